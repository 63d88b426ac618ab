import { describe, expect, test } from 'vitest';
import type { StrictProcess } from '../../../../sim/strict/strict-process.js';
import { CHECKPOINT_RECORDS, EXPIRY_MS } from '../../../../src/core/strict/constants.js';
import { Cluster } from './strict-cluster.js';

const DAY_MS = 86_400_000;
const MONTH_MS = 31 * DAY_MS;
const BUDGET = { amount: 0, perMs: 1, depth: 1000, budget: true } as const;
/** 99.5 % of it. */
const LEAST = 995;

function month(at: number) {
  return { fromMs: at * MONTH_MS, untilMs: (at + 1) * MONTH_MS };
}

/** Nodes of a budget whose wall clocks are the test's. */
class Months extends Cluster {
  readonly running: StrictProcess[] = [];

  readonly carryMost: number;

  constructor(depth: number = BUDGET.depth, carryMost = 0) {
    super({ ...BUDGET, depth });
    this.carryMost = carryMost;
  }

  begin(...names: string[]): StrictProcess[] {
    const begun = names.map((name) => this.start(name));
    this.running.push(...begun);
    this.run(2 * EXPIRY_MS);
    this.tell();
    return begun;
  }

  /** Tells all nodes the month of their clocks. */
  tell(wallMs = this.queue.nowMs): void {
    for (const { node, isRunning } of this.running)
      if (isRunning) node.beginPeriod(month(Math.floor(wallMs / MONTH_MS)), this.carryMost, wallMs);
    this.run(2500);
  }

  end(how: 'leave' | 'kill'): void {
    for (const process of this.running.splice(0)) process[how]();
    this.run(8000);
  }

  /** Asks for more than there is. */
  useAll(process: StrictProcess, tokens = 1500): void {
    const before = this.admitted;
    for (let asked = 0; asked < tokens; asked += 100) this.use(process, 100);
    expect(this.admitted - before).toBeLessThanOrEqual(tokens);
  }
}

test('a budget is spent once a month for two years, by processes that restart each month', () => {
  const cluster = new Months();
  for (let at = 0; at < 24; at++) {
    cluster.run(at * MONTH_MS - cluster.queue.nowMs);
    const [one, other] = cluster.begin('a', 'b');
    cluster.use(one, 600);
    cluster.use(other, 600);
    expect(cluster.admitted).toBeLessThanOrEqual(1000 * (at + 1));
    expect(cluster.admitted).toBeGreaterThanOrEqual(LEAST * (at + 1));
    cluster.end('leave');
  }
});

test('a year in which each other month leaves all: at most 200 are carried, and no month has them twice', () => {
  const cluster = new Months(1000, 200);
  let before = 0;
  for (let at = 0; at < 12; at++) {
    cluster.run(at * MONTH_MS - cluster.queue.nowMs);
    const [one] = cluster.begin('a', 'b');
    if (at % 2 === 1) {
      cluster.useAll(one);
      const most = 1200;
      expect(cluster.admitted - before).toBeLessThanOrEqual(most);
      expect(cluster.admitted - before).toBeGreaterThanOrEqual(0.995 * most);
      before = cluster.admitted;
    }
    cluster.end(at % 3 === 0 ? 'kill' : 'leave');
  }
});

describe('a budget of which 400 are used is not filled', () => {
  test.each<{ says: string; trouble: (cluster: Months) => void; least?: number }>([
    {
      says: 'by a process that restarts',
      trouble: (cluster) => {
        cluster.running[0].kill();
        cluster.begin('a');
      },
    },
    {
      says: 'by an operator who redeploys all',
      trouble: (cluster) => {
        cluster.end('leave');
        cluster.begin('a', 'b');
      },
    },
    {
      says: 'by the kill of all',
      trouble: (cluster) => {
        cluster.end('kill');
        cluster.begin('a', 'b');
      },
    },
    {
      says: 'by a repeated record',
      trouble: ({ log }) => {
        for (const { record } of [...log.reads]) log.append(record, 1);
      },
    },
    { says: 'by a log made anew', trouble: ({ log }) => log.replace() },
    {
      says: 'by a log made anew, twice, and a node that starts meanwhile',
      trouble: (cluster) => {
        cluster.log.replace();
        cluster.begin('c');
        cluster.log.replace();
        cluster.begin('d');
      },
    },
    {
      says: 'by a log made anew that one node reads first when others have begun it',
      trouble: (cluster) => {
        const [knows, other] = cluster.running;
        other.kill();
        cluster.log.deafen(knows, true);
        cluster.log.replace();
        cluster.begin('c', 'd');
        cluster.log.deafen(knows, false);
        cluster.run(1000);
      },
    },
    {
      says: 'by a log made anew while all nodes still learn the former one',
      trouble: (cluster) => {
        cluster.end('kill');
        cluster.running.push(cluster.start('c'), cluster.start('d'));
        cluster.run(1000);
        cluster.log.replace();
      },
    },
    {
      says: 'by a clock of the log that is a month ahead for an hour',
      trouble: (cluster) => {
        cluster.log.aheadMs = MONTH_MS;
        cluster.tell();
        cluster.log.aheadMs = 0;
        cluster.tell();
      },
    },
    {
      says: 'by a clock of the log that is a month behind',
      trouble: (cluster) => {
        cluster.log.aheadMs = -MONTH_MS;
        cluster.tell();
      },
    },
    {
      says: 'by clocks of nodes that are a month ahead, and then behind',
      trouble: (cluster) => {
        cluster.tell(cluster.queue.nowMs + MONTH_MS);
        cluster.tell(cluster.queue.nowMs - DAY_MS);
        cluster.tell();
      },
    },
    {
      says: 'by another calendar',
      trouble: (cluster) => {
        const { nowMs } = cluster.queue;
        for (const { node } of cluster.running) {
          node.beginPeriod({ fromMs: nowMs - 1000, untilMs: nowMs + DAY_MS }, 0, nowMs);
          node.beginPeriod({ fromMs: 0, untilMs: null }, 0, nowMs);
        }
        cluster.run(3000);
      },
    },
  ])('$says', ({ trouble }) => {
    const cluster = new Months();
    const [one] = cluster.begin('a', 'b');
    cluster.useAll(one, 400);
    expect(cluster.admitted).toBe(400);
    trouble(cluster);
    cluster.run(2 * EXPIRY_MS);
    cluster.tell();
    const [last] = cluster.begin('z');
    cluster.useAll(last);
    expect(cluster.admitted).toBeLessThanOrEqual(1000);
    expect(cluster.admitted).toBeGreaterThanOrEqual(LEAST);
  });

  test('by compaction', () => {
    const cluster = new Months(100_000);
    const [one] = cluster.begin('a');
    for (let count = 0; count < 4 * CHECKPOINT_RECORDS; count++) {
      one.ask(40);
      cluster.run(50);
    }
    expect(cluster.log.kept).toBeLessThan(2 * CHECKPOINT_RECORDS);
    const { admitted } = cluster;
    expect(admitted).toBeGreaterThan(0);
    cluster.end('kill');
    const [next] = cluster.begin('b');
    expect(next.node.fold?.pool).toBeLessThanOrEqual(100_000 - admitted);
    expect(next.node.fold?.pool).toBeGreaterThanOrEqual(99_500 - admitted);
  });
});

test('nothing is granted after the month, until the next has begun by the log’s clock', () => {
  const cluster = new Months();
  cluster.run(MONTH_MS - 20_000);
  const [one, other] = cluster.begin('a', 'b');
  cluster.run(MONTH_MS - cluster.queue.nowMs - 500);
  cluster.useAll(one, 400);
  cluster.run(3000);
  const { admitted } = cluster;
  cluster.useAll(one, 1000);
  // Wallets may hold some from before the end.
  expect(cluster.admitted - admitted).toBeLessThanOrEqual(3);
  cluster.tell();
  cluster.useAll(other, 1500);
  expect(cluster.admitted - admitted).toBeLessThanOrEqual(1000);
  expect(cluster.admitted - admitted).toBeGreaterThanOrEqual(LEAST);
});

test('however often nodes are killed under load, 99.5 % of a month can be spent, and no token more', () => {
  const cluster = new Months(10_000);
  let [one, other] = cluster.begin('a', 'b');
  for (let kill = 0; kill < 20; kill++) {
    cluster.use(one, 60);
    cluster.use(other, 40);
    one.ask(1);
    one.kill();
    cluster.run(EXPIRY_MS + 1000);
    cluster.use(other, 1);
    one = other;
    [other] = cluster.begin(`n${kill}`);
  }
  cluster.useAll(one, 10_000);
  expect(cluster.admitted).toBeLessThanOrEqual(10_000);
  expect(cluster.admitted).toBeGreaterThanOrEqual(9950);
});

describe('gifts', () => {
  test('count once, whoever repeats them', () => {
    const cluster = new Months();
    const [one, other] = cluster.begin('a', 'b');
    for (const { node } of [one, other, one]) node.credit('invoice 7', 200, 'anna (token)');
    cluster.useAll(one, 1500);
    expect(cluster.admitted).toBeLessThanOrEqual(1200);
    expect(cluster.admitted).toBeGreaterThanOrEqual(LEAST + 200);
  });

  test('null fills the month once more', () => {
    const cluster = new Months();
    const [one] = cluster.begin('a', 'b');
    cluster.useAll(one, 700);
    one.node.credit('reset 1', null, 'anna (token)');
    cluster.run(500);
    cluster.useAll(one, 1500);
    expect(cluster.admitted).toBeLessThanOrEqual(1700);
    expect(cluster.admitted).toBeGreaterThanOrEqual(LEAST + 700);
  });
});

test('a budget that is changed counts what is gone: 400 of 1,000, of 300, of 2,000', () => {
  const cluster = new Months();
  const [one] = cluster.begin('a', 'b');
  cluster.useAll(one, 400);
  one.node.change({ revision: 2, amount: 0, depth: 300 }, one.clockMs);
  cluster.run(6000);
  cluster.useAll(one, 500);
  expect(cluster.admitted).toBeLessThanOrEqual(402);
  one.node.change({ revision: 3, amount: 0, depth: 2000 }, one.clockMs);
  cluster.run(6000);
  cluster.useAll(one, 2500);
  expect(cluster.admitted).toBeLessThanOrEqual(2000);
  expect(cluster.admitted).toBeGreaterThanOrEqual(2000 * 0.995);
});
