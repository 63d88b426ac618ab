import type { ClientTally, Measurement } from '../measure/meter.js';
import { StoryTraffic } from '../story/story-traffic.js';
import { Replay } from '../traffic/replay.js';
import { readTrace } from '../traffic/trace.js';
import { httpAcquire, Traffic } from '../traffic/traffic.js';
import type { TrafficNews, TrafficOrder, TrafficPlan } from './protocol.js';

/** Traffic process: takes orders over its IPC channel; ends with it, or at SIGTERM. */

const PROGRESS_EVERY_MS = 250;

interface Played {
  readonly elapsedMs: number;
  tallies(): readonly ClientTally[];
  nodeGone(node: number): void;
  finish(): Measurement | null;
}

let played: Played | undefined;
let story: StoryTraffic | undefined;
let progressTimer: NodeJS.Timeout | undefined;

process.on('message', (order: TrafficOrder) => void obey(order));
process.on('disconnect', () => process.exit(0));

async function obey(order: TrafficOrder): Promise<void> {
  switch (order.kind) {
    case 'begin':
      played = await begin(order.plan);
      progressTimer = setInterval(sendProgress, PROGRESS_EVERY_MS);
      return;
    case 'node-gone':
      return played?.nodeGone(order.node);
    case 'node-back':
      return story?.nodeBack(order.node);
    case 'quota':
      return story?.setQuota(order.messagesPerSecond);
    case 'act':
      if (story !== undefined) tell({ kind: 'act-over', tallies: await story.play(order.stretches) });
      return;
    case 'finish':
      clearInterval(progressTimer);
      if (played !== undefined) tell({ kind: 'finished', measurement: played.finish() });
  }
}

async function begin({ trace, group, quotaPerSecond, nodeUrls }: TrafficPlan): Promise<Played> {
  if (trace === null) {
    const acquire = nodeUrls.map((url) => httpAcquire(url, group, () => undefined));
    const own = new StoryTraffic({ acquire, random: Math.random });
    story = own;
    return {
      get elapsedMs() {
        return own.elapsedMs;
      },
      tallies: () => own.nodes,
      nodeGone: (node) => own.nodeGone(node),
      finish: () => {
        own.end();
        return null;
      },
    };
  }
  const replay = new Replay(await readTrace(trace.file), trace.speed);
  const acquire = nodeUrls.map((url) => httpAcquire(url, group, (tookMs) => traffic.meter.answered(tookMs)));
  const traffic: Traffic = new Traffic({ replay, quotaPerSecond, acquire, random: Math.random });
  traffic.begin();
  return {
    get elapsedMs() {
      return traffic.elapsedMs;
    },
    tallies: () => traffic.meter.nodes,
    nodeGone: (node) => traffic.nodeGone(node),
    finish: () => traffic.finish(),
  };
}

function sendProgress(): void {
  if (played !== undefined) tell({ kind: 'progress', atMs: played.elapsedMs, nodes: played.tallies() });
}

function tell(news: TrafficNews): void {
  process.send?.(news);
}
