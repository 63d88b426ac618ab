import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { TimeHeap } from '../../../../src/core/base/time-heap.js';
import { MESSAGES } from '../../../../src/core/base/vocabulary.js';
import { Buckets } from '../../../../src/core/limiter/buckets.js';
import { WakeOwner, WakeQueue } from '../../../../src/core/limiter/wake-queue.js';
import { runs } from '../../../property/seed.js';

function drain(queue: WakeQueue<string>, most: number): string[] {
  const taken: string[] = [];
  for (let owner = queue.peek(); owner !== null && taken.length < most; owner = queue.peek())
    taken.push(queue.take(owner));
  return taken;
}

describe('turns', () => {
  test('an owner’s items keep their order, and the dead are passed over', () => {
    const queue = new WakeQueue<string>((item) => !item.startsWith('dead'));
    const owner = new WakeOwner<string>();
    for (const item of ['dead 1', 'a', 'dead 2', 'b', 'dead 3']) queue.add(owner, item, 1);
    expect(drain(queue, 10)).toEqual(['a', 'b']);
    expect(queue.owners).toBe(0);
  });

  test.each([0.5, 1, 2, 4])('in what it costs, not in how often: passes of %f beside items of 4', (cost) => {
    const queue = new WakeQueue<string>();
    const owners = [new WakeOwner<string>(), new WakeOwner<string>()];
    for (let item = 0; item < 100; item++) for (const owner of owners) queue.add(owner, 'item', 4);
    let passed = 0;
    for (let turn = 0; turn < 200; turn++) {
      queue.take(queue.peek()!);
      for (; queue.owners > 0 && queue.mayPass(cost); passed += cost) queue.passed(cost);
    }
    expect(Math.abs(passed - 400)).toBeLessThanOrEqual(4);
  });

  test('after a large part the others have one turn as large, and then turns of their own size', () => {
    const queue = new WakeQueue<string>();
    const [batch, one, other] = [new WakeOwner<string>(), new WakeOwner<string>(), new WakeOwner<string>()];
    queue.add(batch, 'batch', 1);
    for (let item = 0; item < 1000; item++) {
      queue.add(one, 'a', 1);
      queue.add(other, 'b', 1);
    }
    queue.takePart(queue.peek()!, 200);
    expect(drain(queue, 406).join('')).toBe(`${'a'.repeat(200)}${'b'.repeat(200)}ababab`);
  });

  test.each([
    ['no limit any more', 0],
    ['a limit that is much higher by now', 1e-6],
  ])('a debt from a large part is passed over at once: %s', (_, cost) => {
    // Both came while the lane was blocked: nothing had a cost.
    const queue = new WakeQueue<string>();
    const [one, other] = [new WakeOwner<string>(), new WakeOwner<string>()];
    for (let item = 0; item < 3; item++) {
      queue.add(one, 'a', 0);
      queue.add(other, 'b', 0);
    }
    const taken = [queue.takePart(queue.peek()!, 1e12)];
    for (let owner = queue.peek(); owner !== null; owner = queue.peek()) taken.push(queue.takePart(owner, cost));
    expect(taken.sort().join('')).toBe('aaabbb');
  });

  test.each([
    ['of equal weight', [1, 1, 1], [60, 240, 1000], 0],
    ['of which one gets twice as much', [1, 2, 1], [60, 240, 1000], 0],
    ['of which each gets another part', [3, 1, 2], [60, 240, 1000], 0],
    ['of which the last owes least', [1, 1, 1], [60, 240, 250], 2],
  ])('three with debts %s come nearer, to one turn per weight, the least one first', (_, weights, parts, least) => {
    const queue = new WakeQueue<string>();
    const owners = weights.map((weight) => new WakeOwner<string>(weight));
    for (let item = 0; item < 4000; item++) for (const owner of owners) queue.add(owner, 'item', 1);
    const passing = new WakeOwner<string>();
    queue.add(passing, 'gone', 1);
    const taken = owners.map((owner, at) => {
      expect(queue.peek()).toBe(owner);
      queue.takePart(owner, parts[at]);
      return parts[at];
    });
    // It leaves, so that only those in debt are left.
    expect(queue.peek()).toBe(passing);
    queue.takePart(passing, 1);
    const apart = () => {
      const perWeight = taken.map((amount, at) => amount / weights[at]);
      return Math.max(...perWeight) - Math.min(...perWeight);
    };
    const atFirst = apart();
    expect(queue.peek()).toBe(owners[least]);
    let farthest = 0;
    for (let turn = 0; turn < 3500; turn++) {
      const owner = queue.peek()!;
      queue.take(owner);
      taken[owners.indexOf(owner)] += 1;
      farthest = Math.max(farthest, apart());
    }
    // The third one's turn was as large as the part of the second.
    expect(farthest).toBeLessThanOrEqual(Math.max(atFirst, 240));
    expect(apart()).toBeLessThanOrEqual(240);
  });

  test('however large the parts that were taken, all are served, each owner’s items in order, nobody twice', () => {
    const item = fc.constantFrom(0, 1, 5, 1e6);
    const owner = fc.record({
      weight: fc.constantFrom(1, 2, 5),
      costs: fc.array(item, { minLength: 1, maxLength: 4 }),
    });
    const part = fc.constantFrom(null, 0, 3, 1e4, 1e9);
    fc.assert(
      fc.property(
        fc.array(owner, { minLength: 1, maxLength: 4 }),
        fc.array(part, { minLength: 1, maxLength: 8 }),
        (given, parts) => {
          const queue = new WakeQueue<string>();
          const owners = given.map(({ weight }) => new WakeOwner<string>(weight));
          const names = given.map(({ costs }, at) => costs.map((_, place) => `${at}/${place}`));
          for (const [at, { costs }] of given.entries()) {
            for (const [place, cost] of costs.entries()) queue.add(owners[at], names[at][place], cost);
          }
          const taken: string[] = [];
          for (let next = queue.peek(); next !== null && taken.length < 20; next = queue.peek()) {
            const cost = parts[taken.length % parts.length]!;
            taken.push(cost === null ? queue.take(next) : queue.takePart(next, cost));
          }
          expect(names.map((own) => taken.filter((name) => own.includes(name)))).toEqual(names);
          expect([taken.length, queue.owners]).toEqual([names.flat().length, 0]);
        },
      ),
      runs(500),
    );
  });
});

test('the heap gives back in order of time', () => {
  const heap = new TimeHeap<number>();
  const times = Array.from({ length: 500 }, (_, at) => (at * 7919) % 500);
  for (const atMs of times) heap.push(atMs, atMs);
  heap.keep((atMs) => atMs % 2 === 0);
  const popped = Array.from({ length: heap.size }, () => heap.pop());
  expect(popped).toEqual(times.filter((atMs) => atMs % 2 === 0).sort((one, other) => one - other));
  expect(heap.pop()).toBeUndefined();
});

describe('debt of work that cannot be refused', () => {
  test.each([
    ['ten seconds of 100/s', 100, 10_000, 1e6, -1000],
    ['at least one bucket', 100, 0, 1e6, -100],
    ['what is less stays as it is', 100, 10_000, 150, -50],
  ])('%s', (_, perSecond, debtMs, amount, tokens) => {
    const buckets = new Buckets(1);
    buckets.setLimit(0, MESSAGES, perSecond, perSecond, 0);
    buckets.fill(0, 0);
    buckets.charge(0, amount, 0, debtMs, 0);
    expect(buckets.tokens.at(MESSAGES)).toBe(tokens);
    buckets.setLimit(0, MESSAGES, 1, 1, 0);
    buckets.charge(0, 5, 0, debtMs, 0);
    expect(buckets.tokens.at(MESSAGES)).toBeLessThanOrEqual(tokens);
  });

  test('a hold that ends fills up to the depth, and hours back or forth do no harm', () => {
    const buckets = new Buckets(1);
    buckets.setLimit(0, MESSAGES, 10, 10, 0);
    buckets.fill(0, 7_200_000);
    buckets.take(0, 8, 0);
    buckets.hold(0, 8, 0).end(100, 0, 7_200_000);
    expect(buckets.tokens.at(MESSAGES)).toBe(10);
    buckets.take(0, 10, 0);
    buckets.refill(0, 0);
    expect(buckets.available(0, MESSAGES, 500)).toBe(5);
    expect(buckets.available(0, MESSAGES, 1e12)).toBe(10);
  });
});
