import { httpAcquire } from './http-acquire.js';
import type { TrafficNews, TrafficOrder, TrafficPlan } from './protocol.js';
import { Replay } from './replay.js';
import { readTrace } from './trace.js';
import { Traffic } from './traffic.js';

/** The traffic process of the demonstration: takes orders over its IPC channel, and ends when that closes or SIGTERM comes. */

const PROGRESS_EVERY_MS = 250;

let traffic: Traffic | undefined;
let progressTimer: NodeJS.Timeout | undefined;

process.on('message', (order: TrafficOrder) => {
  if (order.kind === 'begin') void begin(order.plan);
  else if (order.kind === 'node-gone') traffic?.nodeGone(order.node);
  else finish();
});
process.on('disconnect', () => process.exit(0));

async function begin({ traceFile, speed, group, quotaPerSecond, nodeUrls }: TrafficPlan): Promise<void> {
  const replay = new Replay(await readTrace(traceFile), speed);
  const acquire = nodeUrls.map((url) => httpAcquire(url, group, (tookMs) => traffic?.meter.answered(tookMs)));
  traffic = new Traffic({ replay, quotaPerSecond, acquire, random: Math.random });
  traffic.begin();
  progressTimer = setInterval(sendProgress, PROGRESS_EVERY_MS);
}

function sendProgress(): void {
  if (traffic === undefined) return;
  tell({ kind: 'progress', atMs: traffic.elapsedMs, nodes: traffic.meter.nodes });
}

function finish(): void {
  clearInterval(progressTimer);
  if (traffic !== undefined) tell({ kind: 'finished', measurement: traffic.finish() });
}

function tell(news: TrafficNews): void {
  process.send?.(news);
}
