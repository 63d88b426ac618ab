import { describe, expect, it } from 'vitest';
import { CREATED_WITH, settingsMistake } from '../../../src/topic/kafka/topic-settings.js';

/** What Kafka 4.3 describes for a topic without overrides. */
const KAFKA_DEFAULTS = {
  'cleanup.policy': 'delete',
  'retention.ms': '604800000',
  'message.timestamp.type': 'CreateTime',
  'compression.type': 'producer',
  'max.message.bytes': '1048588',
};

function mistakeOf(overrides: Readonly<Record<string, string>>, partitions = 4): string | null {
  const settings = new Map(Object.entries({ ...KAFKA_DEFAULTS, ...overrides }));
  return settingsMistake('reports', { partitions, settings }, 'host:9092');
}

describe('settings of a topic', () => {
  it('are right as we create it', () => {
    expect(mistakeOf(CREATED_WITH)).toBeNull();
  });

  it.each([
    [{ 'compression.type': 'uncompressed' }],
    [{ 'compression.type': 'gzip' }],
    [{ 'cleanup.policy': 'compact,delete' }],
    [{ 'cleanup.policy': 'delete,compact', 'retention.ms': '-1' }],
    [{ 'retention.ms': '1', 'retention.bytes': '1' }],
    [{ 'segment.ms': '604800000' }],
  ])('may be %j', (overrides) => {
    expect(mistakeOf({ ...CREATED_WITH, ...overrides })).toBeNull();
  });

  it.each([
    [{ 'cleanup.policy': 'delete' }, 'cleanup.policy is delete, wanted compact', 'cleanup.policy=compact'],
    [
      { 'cleanup.policy': 'compact,delete', 'retention.ms': '60000' },
      'retention.ms is 60000, wanted -1 or at least 3600000 (cleanup.policy deletes)',
      'retention.ms=86400000',
    ],
    [
      { 'cleanup.policy': 'compact,delete', 'retention.bytes': '1000000' },
      'retention.bytes is 1000000, wanted -1 (cleanup.policy deletes, newest records of a key among them)',
      'retention.bytes=-1',
    ],
    [
      { 'delete.retention.ms': '0' },
      'delete.retention.ms is 0, wanted at least 3600000',
      'delete.retention.ms=86400000',
    ],
    [{ 'message.timestamp.type': 'CreateTime' }, 'wanted LogAppendTime', 'message.timestamp.type=LogAppendTime'],
    [{ 'compression.type': 'lz4' }, 'compression.type is lz4, wanted producer', 'compression.type=producer'],
    [{ 'max.message.bytes': '999999' }, 'wanted at least 1000000', 'max.message.bytes=1048588'],
  ])('may not be %j', (overrides, mistake, fix) => {
    const said = mistakeOf({ ...CREATED_WITH, ...overrides });
    expect(said).toContain(mistake);
    expect(said).toContain(
      `to correct: kafka-configs.sh --bootstrap-server host:9092 --alter --entity-type topics --entity-name reports --add-config ${fix}`,
    );
  });

  it('come with no command for a number of partitions, which cannot be lowered', () => {
    expect(mistakeOf(CREATED_WITH, 16)).toBeNull();
    expect(mistakeOf(CREATED_WITH, 17)).toBe(
      'it has 17 partitions, wanted 1 to 16: create a new topic, partitions cannot be removed',
    );
  });
});

it.each([
  { acceptsSingle: false, replicas: 3, min: '2', unclean: 'false', says: null },
  { acceptsSingle: true, replicas: 1, min: '1', unclean: 'false', says: null },
  { acceptsSingle: false, replicas: 2, min: '2', unclean: 'false', says: 'it has 2 replicas, wanted 3' },
  { acceptsSingle: false, replicas: 3, min: '1', unclean: 'false', says: 'min.insync.replicas is 1' },
  { acceptsSingle: true, replicas: 3, min: '2', unclean: 'true', says: 'unclean.leader.election.enable is true' },
])('a topic of strict groups: %j', ({ acceptsSingle, replicas, min, unclean, says }) => {
  const safe = { 'min.insync.replicas': min, 'unclean.leader.election.enable': unclean };
  const settings = new Map(Object.entries({ ...CREATED_WITH, ...safe }));
  const shape = { partitions: 1, settings, keepsForever: true, strict: { acceptsSingle, replicas } };
  const mistake = settingsMistake('reports-strict', shape, 'host:9092');
  if (says === null) expect(mistake).toBeNull();
  else expect(mistake).toContain(says);
  expect(settingsMistake('reports', { partitions: 1, settings }, 'host:9092')).toBeNull();
});
