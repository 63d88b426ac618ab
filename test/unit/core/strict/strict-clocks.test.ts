import fc from 'fast-check';
import { expect, test } from 'vitest';
import { StrictClock } from '../../../../src/core/strict/strict-clock.js';
import { StrictFold } from '../../../../src/core/strict/strict-fold.js';
import { StrictNode } from '../../../../src/core/strict/strict-node.js';
import { unwrittenState } from '../../../../src/core/strict/strict-state.js';
import '../../../property/seed.js';
import { Cluster } from './strict-cluster.js';

const QUOTA = { amount: 36_000_000, perMs: 3_600_000, depth: 20 };

/** Cluster of two nodes that have used their bucket for a while. */
function used(quota: typeof QUOTA): { cluster: Cluster; admittedIn: (forMs: number) => number } {
  const cluster = new Cluster(quota);
  const nodes = [cluster.start('a'), cluster.start('b')];
  const admittedIn = (forMs: number) => {
    const before = cluster.admitted;
    for (let passedMs = 0; passedMs < forMs; passedMs += 200) {
      for (const node of nodes) node.ask(1);
      cluster.run(200);
    }
    return cluster.admitted - before;
  };
  admittedIn(10_000);
  return { cluster, admittedIn };
}

test.each([50, 100, 390, 1500, 10_000])("the log's clock is set back by %i ms: nodes go on", (byMs) => {
  const { cluster, admittedIn } = used(QUOTA);
  expect(admittedIn(5000)).toBeGreaterThanOrEqual(45);
  cluster.log.aheadMs -= byMs;
  admittedIn(5000);
  expect(admittedIn(5000)).toBeGreaterThanOrEqual(45);
});

test("the log's clock stands still for a second: nodes go on", () => {
  const { cluster, admittedIn } = used(QUOTA);
  for (let stoodMs = 0; stoodMs < 1000; stoodMs += 10) {
    cluster.log.aheadMs -= 10;
    cluster.run(10);
  }
  admittedIn(5000);
  expect(admittedIn(5000)).toBeGreaterThanOrEqual(45);
});

test.each([0, 40, 10_000])(
  'the lane of a key begins its log time with its first record, %i ms after it was opened',
  (afterMs) => {
    const quota = { amount: 0, perMs: 1, depth: 500, budget: true, keyed: true } as const;
    const known = { fold: new StrictFold(unwrittenState(quota)), rows: [], readMs: 0 };
    const node = new StrictNode({ node: 'a', life: 1, quota, revision: 1, known });
    let offset = 0;
    const readBack = (nowMs: number) => {
      for (const record of node.out.splice(0)) {
        if (record.kind === 'claim') expect(record.lagMs).toBeGreaterThanOrEqual(0);
        if (record.kind !== 'delete') node.read({ offset: offset++, appendMs: 5000 + nowMs, record }, nowMs);
      }
    };
    node.beginPeriod({ fromMs: 0, untilMs: 1e9 }, 0, 5000);
    expect(node.take(1, afterMs)).toBe(false);
    readBack(afterMs + 2);
    expect(node.takeWaiting(1, afterMs + 2)).toBe(true);
    expect(node.take(1, afterMs + 30)).toBe(false);
    readBack(afterMs + 32);
    expect(node.takeWaiting(1, afterMs + 32)).toBe(true);
  },
);

test('what is known of log time is never contradictory, whatever the clock of the log does', () => {
  const step = fc.record({
    passMs: fc.nat(2000),
    logMs: fc.nat(3000),
    sentAgoMs: fc.option(fc.nat(300), { nil: null }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const clock = new StrictClock();
      let [nowMs, logMs] = [0, 0];
      for (const each of steps) {
        nowMs += each.passMs;
        logMs += each.logMs;
        clock.read(logMs, nowMs, true);
        if (each.sentAgoMs !== null) clock.readOwn(logMs, nowMs - each.sentAgoMs, nowMs);
        expect(clock.lowAt(nowMs)).toBeLessThanOrEqual(clock.highAt(nowMs));
        expect(clock.lowAt(nowMs + 500)).toBeLessThanOrEqual(clock.highAt(nowMs + 500));
      }
    }),
  );
});
