import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random } from '../../sim/cluster/random.js';
import { replayedGroup } from '../../sim/commands/replay-group.js';
import { playTrace } from '../../sim/replay/play-trace.js';
import { readTrace } from '../../sim/replay/read-trace.js';
import { systemNamed } from '../../sim/systems.js';
import type { GroupStatus } from '../../src/node/api/node-status.js';
import { NodeConnections } from '../../src/tools/load/node-connections.js';
import { Cluster } from '../cluster/cluster.js';
import type { WrittenSettings } from '../written-settings.js';

/**
 * The same traffic at three groups of a live cluster of real processes: one enforces the quota, one has it planned
 * beside a quota that refuses nothing, one has mode: shadow. What was sent is recorded and played by replay. All have
 * to refuse the same, to five per cent.
 */
const NODES = ['n0', 'n1', 'n2'] as const;
const PER_SECOND = 150;
const BURST = 50;
const LENGTH_MS = 30_000;
const WITHIN = 0.05;

const GROUPS = ['enforced', 'planned', 'shadowed'] as const;

interface Arrival {
  readonly atMs: number;
  readonly node: number;
}

/** 300/s on the mean, and hotter at another node every two seconds. */
function traffic(): readonly Arrival[] {
  const random = new Random(7);
  const arrivals = NODES.flatMap((_, node) => {
    const own: Arrival[] = [];
    for (let atMs = 0; ; ) {
      const perSecond = Math.floor(atMs / 2000) % NODES.length === node ? 200 : 50;
      atMs += (-Math.log(1 - random.between(0, 1)) * 1000) / perSecond;
      if (atMs >= LENGTH_MS) return own;
      own.push({ atMs, node });
    }
  });
  return arrivals.sort((one, other) => one.atMs - other.atMs);
}

async function predictedRefusals(arrivals: readonly Arrival[]): Promise<number> {
  const rows = arrivals.map(({ atMs, node }) => `${(atMs / 1000).toFixed(6)},${NODES[node]}`);
  const file = Readable.from([Buffer.from(['time,node', ...rows].join('\n'))]);
  const trace = { time: 'time', timeFormat: 's', messages: '1', bytes: '0', by: 'node', delimiter: ',' } as const;
  const { settings } = await replayedGroup({ direction: 'publish', set: [`burst=${BURST}`] });
  const [run] = await playTrace(readTrace(file, 'traffic', { ...trace, speed: 1, nodes: NODES.length }), {
    name: 'traffic',
    systems: [systemNamed('max-min')!],
    nodes: NODES.length,
    seed: 1,
    quota: [PER_SECOND, Infinity],
    speed: 1,
    settings,
    maxRequest: [Infinity, Infinity],
  });
  return run.offered - run.admitted;
}

let cluster: Cluster;
const connections: NodeConnections[] = [];

beforeAll(async () => {
  const quota = { publish: { messagesPerSecond: PER_SECOND } };
  const groups = {
    enforced: { quota, burst: BURST },
    planned: { quota: { publish: { messagesPerSecond: 1e6 } }, shadow: { quota, burst: BURST } },
    shadowed: { quota, burst: BURST, mode: 'shadow' },
  } satisfies WrittenSettings['groups'];
  cluster = await Cluster.create({ topic: 'embedded', nodeSettings: { groups } });
  await cluster.start(...NODES);
  for (const node of NODES) connections.push(new NodeConnections(cluster.url(node), 10_000));
  for (const each of connections) each.warmUp();
});

afterAll(async () => {
  for (const each of connections) each.close();
  await cluster?.stop();
});

test('what replay predicts, a shadow shows and enforcement does: within 5 % of each other', {
  timeout: 120_000,
}, async () => {
  const arrivals = traffic();
  // As in a replay: the nodes serve the groups when the traffic begins, and nobody has used them for a while.
  for (const group of GROUPS) {
    for (const url of NODES.map((node) => cluster.url(node))) {
      const body = JSON.stringify({ group, messages: 1 });
      await fetch(`${url}/v1/acquire`, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    }
  }
  await sleep(2000);
  const before = { planned: await shadowsOf('planned'), shadowed: await shadowsOf('shadowed') };
  const sent = new Map<string, Arrival[]>(GROUPS.map((group) => [group, []]));
  const refused = new Map<string, number>(GROUPS.map((group) => [group, 0]));
  const beganMs = performance.now();
  const ask = (group: string, node: number) =>
    new Promise<void>((answered) => {
      const atMs = performance.now() - beganMs;
      connections[node].acquire({ group, messages: 1, bytes: 0, retry: false }, (outcome) => {
        // Where this machine stands still, the harness sends less; what it has not sent, nobody was asked for.
        if (outcome === 'granted' || outcome === 'refused') sent.get(group)!.push({ atMs, node });
        if (outcome === 'refused') refused.set(group, refused.get(group)! + 1);
        answered();
      });
    });
  const asked: Promise<void>[] = [];
  for (const { atMs, node } of arrivals) {
    const early = beganMs + atMs - performance.now();
    if (early > 1) await sleep(early);
    for (const group of GROUPS) asked.push(ask(group, node));
  }
  await Promise.all(asked);
  const found = {
    enforced: refused.get('enforced')!,
    planned: (await shadowsOf('planned')) - before.planned,
    shadowed: (await shadowsOf('shadowed')) - before.shadowed,
  };
  expect([refused.get('planned'), refused.get('shadowed')]).toEqual([0, 0]);
  for (const group of GROUPS) {
    const recorded = sent.get(group)!.sort((one, other) => one.atMs - other.atMs);
    const predicted = await predictedRefusals(recorded);
    console.log(`${group}: ${recorded.length} sent, replay refuses ${predicted}, the live cluster ${found[group]}`);
    expect(predicted).toBeGreaterThan(2000);
    expect(Math.abs(found[group] - predicted) / predicted, group).toBeLessThan(WITHIN);
  }
});

/** Messages that the shadows of all nodes would have refused. */
async function shadowsOf(group: string): Promise<number> {
  const counts = await Promise.all(
    NODES.map(async (node) => {
      const response = await fetch(`${cluster.url(node)}/v1/groups/${group}`);
      const { shadow } = (await response.json()) as GroupStatus;
      return shadow!.directions.publish.wouldRefuse.messages;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
