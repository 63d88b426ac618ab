import { describe, expect, it } from 'vitest';
import { World } from '../../sim/cluster/world.js';
import { someOf } from '../property/seed.js';
import { GATED, SETTINGS } from './settings.js';

/** A broker that answers 200 ms later: every other round finds a produce under way. */
const SLOW = { appendMs: [200, 200], deliveryMs: [0.5, 3] } as const;
const GROUPS = 12;

function world(strategy: string, seed: number): World {
  const groups = Array.from({ length: GROUPS }, (_, at) => ({ ...GATED, name: `g${at}`, strategy }));
  const slow = new World(seed, { ...SETTINGS, groups }, SLOW);
  for (let group = 0; group < GROUPS; group++) {
    for (const node of ['a', 'b', 'c']) {
      const ratePerSecond = (nowMs: number) => ((nowMs + group * 331) % 1400 < 700 ? 60 : 400);
      slow.drive({ node, lane: 2 * group, ratePerSecond, evenly: true });
    }
  }
  for (const node of ['a', 'b']) slow.start(node);
  return slow;
}

/** Until a node that starts now has a share. */
function newcomerWaitMs(slow: World): number {
  const newcomer = slow.start('c', { compacted: true });
  const startMs = slow.nowMs;
  while (!(newcomer.coordinator.isReady && newcomer.coordinator.shares.applied[0] > 0)) {
    slow.runFor(20);
    expect(slow.nowMs - startMs, 'ms without a share').toBeLessThan(30_000);
  }
  return slow.nowMs - startMs;
}

describe.each(['max-min', 'equal'])('on a topic that takes 200 ms to append, %s', (strategy) => {
  it('takes no heartbeat for a repetition, because no author’s sequence ever goes back', () => {
    const slow = world(strategy, 3);
    slow.runFor(30_000);
    const records = slow.topic.log.flatMap(({ record }) => (record === null ? [] : [record]));
    const newest = new Map<number, number>();
    let late = 0;
    let heartbeats = 0;
    for (const { kind, author } of records) {
      const isOld = author.sequence < (newest.get(author.nodeKey) ?? 0);
      if (kind === 'node') heartbeats++;
      if (kind === 'node' && isOld) late++;
      if (!isOld) newest.set(author.nodeKey, author.sequence);
    }
    console.log(`${strategy}: ${heartbeats} heartbeats, ${late} of them behind a later record of their author`);
    expect(heartbeats).toBeGreaterThan(50);
    expect(late).toBe(0);
    expect(slow.node('a').coordinator.log.ignored.repeated).toBe(0);
  });

  it('gives a newcomer its share within three round trips of the log', () => {
    const waitsMs = someOf([...Array(10).keys()]).map((at) => {
      const slow = world(strategy, 3 + at);
      slow.runFor(15_000 + 137 * at);
      return newcomerWaitMs(slow);
    });
    console.log(`${strategy}: ms from the start of a newcomer until it has a share: ${waitsMs.join(' ')}`);
    expect(Math.max(...waitsMs)).toBeLessThan(3 * 400);
  });
});
