import { describe, expect, test } from 'vitest';
import { EventQueue } from '../../../../sim/cluster/event-queue.js';
import { Random } from '../../../../sim/cluster/random.js';
import { StrictLog } from '../../../../sim/strict/strict-log.js';
import { StrictProcess } from '../../../../sim/strict/strict-process.js';
import { slotsMost } from '../../../../src/core/strict/slot-turns.js';
import { StrictFold } from '../../../../src/core/strict/strict-fold.js';
import { emptyState } from '../../../../src/core/strict/strict-state.js';
import type { StrictWallet } from '../../../../src/core/strict/strict-wallet.js';

const SLOTS = { amount: 0, perMs: 1, depth: 10, slots: true } as const;

/** @param others [hold, want] of each other life; its last record is `silentMs` old */
function foldOf(
  own: number,
  others: readonly (readonly [number, number])[],
  depth: number,
  silentMs: number,
): StrictFold {
  const nowMs = 10_000;
  const holders = [[own, 0], ...others].map(([hold = 0, want = 0], at) => {
    const readMs = nowMs - (at === 0 ? 0 : silentMs);
    return { node: `n${at}`, life: 1, seq: 1, readMs, want, lagMs: 0, taken: 0, hold };
  });
  return new StrictFold({ ...emptyState({ ...SLOTS, depth }, 1), nowMs, holders });
}

describe('a life of 10 slots', () => {
  test.each([
    { says: 'alone has what is free', own: 4, needed: 30, others: [], most: 10 },
    {
      says: 'leaves others their parts',
      own: 10,
      needed: 30,
      others: [
        [0, 8],
        [0, 2],
      ],
      most: 4,
    },
    {
      says: 'leaves others what they want',
      own: 10,
      needed: 30,
      others: [
        [0, 3],
        [0, 2],
      ],
      most: 5,
    },
    { says: 'keeps what nobody lacks', own: 6, needed: 6, others: [[4, 4]], most: 6 },
    { says: 'takes its part of what is free, and no more', own: 1, needed: 9, others: [[1, 9]], most: 5 },
    {
      says: 'keeps the rest of equal parts',
      own: 4,
      needed: 9,
      others: [
        [3, 9],
        [3, 9],
      ],
      most: 4,
    },
    { says: 'waits for nobody who is silent', own: 10, needed: 30, others: [[0, 8]], silentMs: 1001, most: 10 },
    { says: 'leaves what a lowered limit takes', own: 8, needed: 20, others: [[2, 2]], depth: 4, most: 2 },
  ] as const)('$says', ({ own, needed, others, most, ...more }) => {
    const { depth, silentMs } = { depth: 10, silentMs: 0, ...more };
    const fold = foldOf(own, others, depth, silentMs);
    expect(slotsMost(fold, 'n0/1', needed)).toBe(most);
  });
});

const NO_FAULTS = { appendMs: [1, 3], deliveryMs: [1, 3], lost: 0, late: 0, lateMs: 0, repeated: 0 } as const;

/** Nodes whose requests wait without end, each holding its slot for 100 ms. */
class Waiting {
  readonly queue = new EventQueue();
  readonly #log = new StrictLog(this.queue, new Random(1), NO_FAULTS);
  readonly running = new Map<string, number>();
  #lives = 0;

  start(node: string): StrictProcess {
    const clock = { aheadMs: 0, drift: 0 };
    const settings = { node, life: 1000 * ++this.#lives, quota: SLOTS, revision: 1, clock, waitMs: 60_000 };
    const process: StrictProcess = new StrictProcess(this.queue, this.#log, { ...settings, mutation: null }, () => {
      this.#count(node, 1);
      const wallet = process.node.wallet as StrictWallet;
      this.queue.after(100, () => {
        wallet.release(1);
        this.#count(node, -1);
      });
    });
    return process;
  }

  /** Runs on, and counts who holds how many slots in the mean. */
  run(forMs: number): Readonly<Record<string, number>> {
    const sums: Record<string, number> = {};
    for (let ms = 0; ms < forMs; ms += 10) {
      this.queue.runUntil(this.queue.nowMs + 10);
      for (const [node, count] of this.running) sums[node] = (sums[node] ?? 0) + (10 * count) / forMs;
    }
    return sums;
  }

  /** Lets so many clients ask again whenever they have been served. */
  ask(process: StrictProcess, clients: number, forMs: number): void {
    for (let count = 0; count < (clients * forMs) / 100; count++) process.ask(1);
  }

  #count(node: string, by: number): void {
    this.running.set(node, (this.running.get(node) ?? 0) + by);
  }
}

test('who waits at any node gets its part, however long the line of another is', () => {
  const cluster = new Waiting();
  const [a, b, c] = [cluster.start('a'), cluster.start('b'), cluster.start('c')];
  cluster.run(7000);
  cluster.ask(a, 50, 8000);
  expect(cluster.run(2000).a).toBeGreaterThan(9);
  for (let ms = 0; ms < 3000; ms += 100) cluster.queue.after(ms, () => c.ask(1));
  cluster.ask(b, 30, 6000);
  cluster.run(500);
  const held = cluster.run(2000);
  expect(held.a).toBeGreaterThan(3);
  expect(held.b).toBeGreaterThan(3);
  expect(held.c).toBeGreaterThan(0.7);
  expect(Object.values(held).reduce((sum, each) => sum + each)).toBeGreaterThan(8.5);
});

test('a limit that is lowered is in force although requests go on waiting', () => {
  const cluster = new Waiting();
  const a = cluster.start('a');
  cluster.run(7000);
  cluster.ask(a, 50, 8000);
  expect(cluster.run(1000).a).toBeGreaterThan(9);
  a.node.change({ revision: 2, amount: 0, depth: 4 }, a.clockMs);
  cluster.run(2000);
  expect(a.node.changed(2).state).toBe('in-force');
  const { a: held = 0 } = cluster.run(1000);
  expect(held).toBeLessThanOrEqual(4 + 1e-9);
  expect(held).toBeGreaterThan(3.5);
});
