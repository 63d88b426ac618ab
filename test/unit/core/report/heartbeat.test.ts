import { expect, test } from 'vitest';
import { Heartbeat } from '../../../../src/core/report/heartbeat.js';
import { SETTINGS } from '../../../simulation/settings.js';

const CALM = { suspected: false, heard: true, movingBeatMs: Infinity };

test.each([
  { says: 'every second on the membership partition', partition: 0, circumstances: CALM, everyMs: 1000 },
  { says: 'slower on the others', partition: 2, circumstances: CALM, everyMs: 5000 },
  { says: 'fast while somebody is suspected', partition: 0, circumstances: { ...CALM, suspected: true }, everyMs: 250 },
  {
    says: 'suspicion does not matter elsewhere',
    partition: 2,
    circumstances: { ...CALM, suspected: true },
    everyMs: 5000,
  },
  {
    says: 'fast where a share waits for log time',
    partition: 2,
    circumstances: { ...CALM, movingBeatMs: 200 },
    everyMs: 200,
  },
  {
    says: 'not where nothing is heard: log time stands still there',
    partition: 2,
    circumstances: { ...CALM, movingBeatMs: 200, heard: false },
    everyMs: 1000,
  },
  {
    says: 'every second where nothing is heard',
    partition: 2,
    circumstances: { ...CALM, heard: false },
    everyMs: 1000,
  },
  {
    says: 'soon where the partition has given this node up',
    partition: 2,
    circumstances: { ...CALM, presence: 'missing' as const },
    everyMs: 250,
  },
])('$says', ({ partition, circumstances, everyMs }) => {
  const heartbeat = new Heartbeat({ ...SETTINGS, partitions: 3, nodeId: 'a', nonce: 1 });
  expect(heartbeat.isDue(partition, circumstances, 0)).toBe(true);
  heartbeat.sent(partition, 7000);
  expect(heartbeat.isDue(partition, circumstances, 7000 + everyMs - 1)).toBe(false);
  expect(heartbeat.isDue(partition, circumstances, 7000 + everyMs)).toBe(true);
});

test('not at all where all partitions have given it up', () => {
  const heartbeat = new Heartbeat({ ...SETTINGS, partitions: 3, nodeId: 'a', nonce: 1 });
  expect(heartbeat.isDue(2, { ...CALM, presence: 'gone' }, 1e9)).toBe(false);
});
