import { expect, test } from 'vitest';
import { OneNode } from './one-node.js';

const YEARS_MS = 50 * 365.25 * 24 * 3_600_000;

test('records whose time is years away are told once and counted; what they say counts, and nobody ages', () => {
  const node = OneNode.ready();
  node.run(1000);
  const before = node.coordinator.log.membershipLogMs;
  const clockMs = node.logClockMs;
  for (const [at, awayMs] of [YEARS_MS, -YEARS_MS, Number.NaN].entries()) {
    node.logClockMs = clockMs + awayMs;
    // A life that begins there would make the time before it a pause, in which buckets fill.
    node.read(node.by(`other-${at}`, 'node'));
    node.logClockMs = clockMs;
    node.read(node.by('other-0', 'node'));
  }
  expect(node.coordinator.log.membershipLogMs).toBe(before);
  expect(node.coordinator.membership.alive).toHaveLength(4);
  expect(node.told('absurd-time')).toEqual([{ kind: 'absurd-time', partition: 0 }]);
  expect(node.coordinator.log.ignored['absurd-time']).toBe(3);
});
