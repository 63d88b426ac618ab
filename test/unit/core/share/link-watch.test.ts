import { expect, test } from 'vitest';
import { LinkWatch } from '../../../../src/core/account/lanes/link-watch.js';
import type { Notice } from '../../../../src/core/base/protocol/events-and-effects.js';
import { SETTINGS } from '../../../simulation/settings.js';

const { isolationAfterMs, partitionHeartbeatMs } = SETTINGS;

/** A node that has heard itself on both partitions at 0 ms. */
function heard(): { watch: LinkWatch; notices: Notice[] } {
  const notices: Notice[] = [];
  const watch = new LinkWatch({ ...SETTINGS, nodeId: 'own', nonce: 1, partitions: 2 }, notices);
  for (const partition of [0, 1]) {
    watch.echo.sent(partition, 1, 0);
    watch.echo.readBack(partition, 1, 0);
  }
  return { watch, notices };
}

test('the membership partition may be silent for isolationAfterMs, and not a millisecond more', () => {
  const { watch, notices } = heard();
  expect([watch.watch(isolationAfterMs), watch.of(0)]).toEqual([false, 'linked']);
  expect([watch.watch(isolationAfterMs + 1), watch.of(0)]).toEqual([true, 'held']);
  expect(notices).toEqual([{ kind: 'isolated', partition: 0, silentMs: isolationAfterMs + 1 }]);
});

test('any other for the time between its heartbeats more', () => {
  const { watch, notices } = heard();
  const toleranceMs = isolationAfterMs + partitionHeartbeatMs;
  watch.watch(toleranceMs);
  expect(watch.of(1)).toBe('linked');
  watch.watch(toleranceMs + 1);
  expect(watch.of(1)).toBe('held');
  expect(notices.at(-1)).toEqual({ kind: 'isolated', partition: 1, silentMs: toleranceMs + 1 });
});

test('each change is told once, and the echo of a young record brings it back', () => {
  const { watch, notices } = heard();
  watch.watch(isolationAfterMs + 1);
  expect(watch.watch(isolationAfterMs + 2)).toBe(false);
  watch.echo.sent(0, 2, isolationAfterMs + 2);
  watch.echo.readBack(0, 2, isolationAfterMs + 10);
  expect([watch.watch(isolationAfterMs + 10), watch.of(0)]).toEqual([true, 'linked']);
  expect(notices.map(({ kind }) => kind)).toEqual(['isolated', 'reconnected']);
});

test('a partition is heard when it is linked and an echo is as young as is expected, not by one of both', () => {
  const { watch } = heard();
  const isHeard = () => [0, 1].map((partition) => watch.isHeard(partition));
  expect(isHeard()).toEqual([false, false]);
  watch.expectedSinceMs = 0;
  expect(isHeard()).toEqual([true, true]);
  watch.expectedSinceMs = 100;
  expect(isHeard()).toEqual([false, false]);
  watch.echo.sent(0, 2, 100);
  watch.echo.readBack(0, 2, 110);
  expect(isHeard()).toEqual([true, false]);
  // Silent for too long: what was heard of it counts no more.
  watch.watch(100 + isolationAfterMs + 1);
  expect([watch.of(0), ...isHeard()]).toEqual(['held', false, false]);
});
