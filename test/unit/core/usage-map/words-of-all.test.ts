import { beforeEach, describe, expect, test } from 'vitest';
import { backendIdOf, groupIdOf, incarnationOf, nodeKeyOf } from '../../../../src/core/base/ids.js';
import {
  type Author,
  backendRecordKey,
  groupStateRecordKey,
  type TopicRecord,
} from '../../../../src/core/base/protocol/record.js';
import type { LogTime } from '../../../../src/core/log/log-time.js';
import { RAMP } from '../../../simulation/settings.js';
import { HEARTBEAT_MS, Reading } from './reading.js';

/** What any node may say of a thing of the cluster: the newest word counts, whoever said it, but for a past life. */
interface Thing {
  readonly key: string;
  readonly otherKey: string;
  /** A word of this thing; `value` is what it says. */
  readonly word: (author: Author, value: number) => TopicRecord;
  readonly valueIn: (reading: Reading) => number | undefined;
}

const GROUP_ID = groupIdOf('demo', 'orders');

const THINGS: Readonly<Record<string, Thing>> = {
  'a backend’s health': {
    key: backendRecordKey('db'),
    otherKey: backendRecordKey('other'),
    word: (author, value) => ({
      kind: 'backend',
      author,
      backend: 'db',
      zone: `zone-${value}`,
      health: { kind: 'ratio', ratio: 0.5 },
    }),
    valueIn: ({ backends }) => {
      const zone = backends.get(backendIdOf('demo', 'db'))?.zone;
      return zone === undefined ? undefined : Number(zone.slice(5));
    },
  },
  'a ceiling of a ramp': {
    key: groupStateRecordKey(GROUP_ID, 0),
    otherKey: groupStateRecordKey(GROUP_ID, 1),
    word: (author, ceiling) => ({
      kind: 'group-state',
      author,
      groupId: GROUP_ID,
      direction: 0,
      ceiling,
      lateMs: 0,
      readUntilMs: 0,
      readUntilOffset: 1e6,
      timeToLiveMs: 30_000,
    }),
    valueIn: ({ ramps, usageMap }) => ramps.get(usageMap.mapLaneOf(GROUP_ID, 0), RAMP)?.ceiling,
  },
};

test('an absence counts whole before the first word of a life, and by steps of two heartbeats otherwise', () => {
  const reading = new Reading(2);
  const [time, other] = reading.log.logTimes as readonly [LogTime, LogTime];
  reading.node('a');
  reading.node('a', { afterMs: 60_000 });
  expect(time.spanMs).toBe(2 * HEARTBEAT_MS);
  reading.node('a', { afterMs: 60_000, life: 2 });
  expect(time.spanMs).toBe(2 * HEARTBEAT_MS + 60_000);
  // Each partition is measured by itself.
  reading.node('a', { partition: 1, life: 2 });
  reading.node('a', { partition: 1, life: 2, afterMs: 60_000 });
  expect(other.spanMs).toBe(2 * HEARTBEAT_MS);
});

test('who has spoken in a new log is who has on every partition; what is said again says nothing new', () => {
  const reading = new Reading(2);
  const { epochs } = reading.log;
  epochs.begin('old', 0);
  reading.node('a');
  const alive = [...reading.membership.alive];
  epochs.change('new', { alive, own: 0, keepsShares: true }, 0);
  reading.log.forgetAll();
  const isAwaited = () => epochs.awaited === 1;
  reading.node('a', { sequence: 7 });
  expect(isAwaited()).toBe(true);
  reading.report('a', { orders: 5 }, { partition: 1, sequence: 8 });
  expect(isAwaited()).toBe(true);
  reading.node('a', { partition: 1, sequence: 9 });
  expect(isAwaited()).toBe(false);
});

test('a new life counts in the pool of a partition from its first word there', () => {
  const reading = new Reading(2);
  const { pools } = reading.log;
  const a = nodeKeyOf('demo', 'a');
  for (const partition of pools.keys()) {
    reading.node('a', { sequence: 1 + partition, partition });
    pools[partition]?.heard(a, 1);
  }
  const isServed = () => pools.map((pool) => pool.isServed(a));
  expect(isServed()).toEqual([true, true]);
  reading.node('a', { life: 2, partition: 1 });
  expect(isServed()).toEqual([true, false]);
  reading.node('a', { life: 2 });
  expect(isServed()).toEqual([false, false]);
});

describe.each(Object.entries(THINGS))('%s', (_, { key, otherKey, word, valueIn }) => {
  let reading: Reading;
  beforeEach(() => {
    reading = new Reading(2);
    reading.node('a', { life: 2 });
    reading.said('a', key, (author) => word(author, 280), { life: 2 });
    expect(valueIn(reading)).toBe(280);
  });

  test('by another node counts, member or not', () => {
    reading.said('nobody', key, (author) => word(author, 300));
    expect(valueIn(reading)).toBe(300);
    expect(reading.alive).toEqual(['a']);
  });

  test('by a past life of its author changes nothing, and is counted', () => {
    reading.said('a', key, (author) => word(author, 300), { life: 1, sequence: 99 });
    expect(valueIn(reading)).toBe(280);
    expect(reading.log.ignored).toMatchObject({ 'old-incarnation': 1, 'foreign-key': 0 });
  });

  test('by a newer life than its author’s last one is known counts', () => {
    reading.said('a', key, (author) => word(author, 300), { life: 3 });
    expect(valueIn(reading)).toBe(300);
    expect(reading.log.newestLifeOf(nodeKeyOf('demo', 'a'))).toBe(incarnationOf(3, 9));
  });

  test('said twice changes nothing, and is counted', () => {
    reading.said('a', key, (author) => word(author, 300), { life: 2, sequence: 1 });
    expect(valueIn(reading)).toBe(280);
    expect(reading.log.ignored).toMatchObject({ repeated: 1 });
  });

  test('under another key, or beside the membership partition, is nobody’s word', () => {
    reading.said('a', otherKey, (author) => word(author, 300), { life: 2 });
    reading.said('a', key, (author) => word(author, 300), { life: 2, partition: 1 });
    expect(valueIn(reading)).toBe(280);
    expect(reading.log.ignored).toMatchObject({ 'foreign-key': 2 });
  });
});
