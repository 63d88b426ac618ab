import { expect, test } from 'vitest';
import type { StoreSystem } from '../../../sim/baselines/store/store-systems.js';
import { EventQueue } from '../../../sim/cluster/event-queue.js';
import { Random } from '../../../sim/cluster/random.js';
import { LOCAL_KAFKA } from '../../../sim/cluster/world.js';
import { replayedSystemNamed, replayedSystems } from '../../../sim/replay/replayed-system.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';

/** How many of 30 requests at one instant an idle bucket of 10/s admits. */
function admittedAtOnce(group: Partial<GroupSettings>): number {
  const queue = new EventQueue();
  const settings = { ...SETTINGS, groups: [{ ...GROUP, ...group }] };
  const quota = { messagesPerSecond: 10, bytesPerSecond: Infinity };
  const bucket = replayedSystemNamed('central-bucket', replayedSystems(1)) as StoreSystem;
  const random = Random.stream(1, 'network');
  const store = bucket.create({ queue, random, delays: LOCAL_KAFKA, quota, nodes: 3, settings });
  queue.runUntil(60_000);
  let admitted = 0;
  for (let at = 0; at < 30; at++) store.ask('a', 1, 0, (isAdmitted) => (admitted += isAdmitted ? 1 : 0));
  queue.runUntil(60_010);
  return admitted;
}

test('the central bucket that a replay compares with is as deep as the cluster’s, so that only who decides differs', () => {
  const burst = { messages: 12, bytes: null, policy: 'optimistic' } as const;
  expect(admittedAtOnce({ burst })).toBe(12);
  expect(admittedAtOnce({ burst: { ...burst, messages: null } })).toBe(10);
  expect(admittedAtOnce({ smoothingMs: 500 })).toBe(2);
});
