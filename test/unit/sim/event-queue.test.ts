import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventQueue } from '../../../sim/cluster/event-queue.js';
import '../../property/seed.js';

test('callbacks run in order of time, then of insertion, also those planned by others', () => {
  const plan = fc.tuple(fc.integer({ min: 0, max: 20 }), fc.integer({ min: -1, max: 20 }));
  fc.assert(
    fc.property(fc.array(plan, { maxLength: 200 }), (planned) => {
      const queue = new EventQueue();
      const ran: { readonly atMs: number; readonly order: number }[] = [];
      const expected: typeof ran = [];
      const add = (atMs: number, then: number) => {
        const own = { atMs: Math.max(atMs, queue.nowMs), order: expected.length };
        expected.push(own);
        queue.at(atMs, () => {
          expect(queue.nowMs).toBe(own.atMs);
          ran.push(own);
          if (then >= 0) add(queue.nowMs + then - 3, -1);
        });
      };
      for (const [atMs, then] of planned) add(atMs, then);
      queue.runUntil(100);
      expect(ran).toEqual(expected.sort((one, other) => one.atMs - other.atMs || one.order - other.order));
      expect(queue.nowMs).toBe(100);
    }),
  );
});

test('what is planned for later waits', () => {
  const queue = new EventQueue();
  let ran = 0;
  queue.after(10, () => ran++);
  queue.runUntil(9);
  expect([ran, queue.nowMs]).toEqual([0, 9]);
  queue.runUntil(10);
  expect(ran).toBe(1);
});
