/** The settings that matter of a topic for reports, as one was found. */
export interface TopicShape {
  readonly partitions: number;
  /** Name → value of every setting of the topic, as Kafka describes it; defaults of the broker are included. */
  readonly settings: ReadonlyMap<string, string>;
  /** True = no record is ever written again, as in the registry's topic. */
  readonly keepsForever?: boolean;
}

export const PARTITIONS_MAX = 16;
/** Room for two parcels of outbox.ts with their overhead. Kafka's own default is a little more. */
const MESSAGE_BYTES_MIN = 1_000_000;
/**
 * The least retention of a topic with `compact,delete`, and of tombstones. Unchanged groups are reported again every 5
 * minutes by default, so after an hour only records of dead nodes are forgotten.
 */
const RETENTION_MS_MIN = 3_600_000;

/** The settings of a topic that we create. */
export const CREATED_WITH: Readonly<Record<string, string>> = {
  'cleanup.policy': 'compact',
  // Staleness and ramps go by one clock, the log's, instead of every sender's own.
  'message.timestamp.type': 'LogAppendTime',
  // Record batches stay as they were sent; with a broker's default of, say, zstd some nodes could not read them.
  'compression.type': 'producer',
  // The active segment is never compacted, so a new one every 5 minutes bounds what a newcomer reads.
  'segment.ms': '300000',
  'min.cleanable.dirty.ratio': '0.1',
  'max.compaction.lag.ms': '600000',
  // A reader may be away for so long and still sees every tombstone.
  'delete.retention.ms': '86400000',
};

interface Rule {
  readonly setting: string;
  /** How messages describe what is wanted; `fix` is the value that the remedy sets. */
  readonly wanted: string;
  readonly fix: string;
  isRight(value: string, settings: ReadonlyMap<string, string>): boolean;
}

const RULES: readonly Rule[] = [
  {
    setting: 'cleanup.policy',
    wanted: 'compact',
    fix: 'compact',
    isRight: (value) => value.split(',').includes('compact'),
  },
  {
    setting: 'retention.ms',
    wanted: `-1 or at least ${RETENTION_MS_MIN} (cleanup.policy deletes)`,
    fix: '86400000',
    isRight: (value, settings) =>
      !settings.get('cleanup.policy')?.includes('delete') || value === '-1' || Number(value) >= RETENTION_MS_MIN,
  },
  {
    setting: 'retention.bytes',
    wanted: '-1 (cleanup.policy deletes, newest records of a key among them)',
    fix: '-1',
    isRight: (value, settings) => !settings.get('cleanup.policy')?.includes('delete') || value === '-1',
  },
  {
    setting: 'delete.retention.ms',
    wanted: `at least ${RETENTION_MS_MIN}: who reads later would miss what was deleted`,
    fix: '86400000',
    isRight: (value) => Number(value) >= RETENTION_MS_MIN,
  },
  {
    setting: 'message.timestamp.type',
    wanted: 'LogAppendTime',
    fix: 'LogAppendTime',
    isRight: (value) => value === 'LogAppendTime',
  },
  {
    setting: 'compression.type',
    wanted: 'producer',
    fix: 'producer',
    isRight: (value) => ['producer', 'uncompressed', 'gzip'].includes(value),
  },
  {
    setting: 'max.message.bytes',
    wanted: `at least ${MESSAGE_BYTES_MIN}`,
    fix: '1048588',
    isRight: (value) => Number(value) >= MESSAGE_BYTES_MIN,
  },
];

/** Replaces the first rule for topics whose records are never written again. */
const KEEPS_FOREVER: Rule = {
  setting: 'cleanup.policy',
  wanted: 'compact alone: groups would be deleted by age',
  fix: 'compact',
  isRight: (value) => value === 'compact',
};

export const VERIFIED_SETTINGS = RULES.map(({ setting }) => setting);

/** Returns null when the topic can be used; otherwise every mistake, and the command that corrects them. */
export function settingsMistake(topic: string, shape: TopicShape, broker: string): string | null {
  const rules = shape.keepsForever === true ? [KEEPS_FOREVER, ...RULES.slice(1)] : RULES;
  const wrong = rules.filter(({ setting, isRight }) => {
    const value = shape.settings.get(setting);
    return value !== undefined && !isRight(value, shape.settings);
  });
  const mistakes = wrong.map(({ setting, wanted }) => `${setting} is ${shape.settings.get(setting)}, wanted ${wanted}`);
  if (shape.partitions > PARTITIONS_MAX) {
    const wanted = `wanted 1 to ${PARTITIONS_MAX}: create a new topic, partitions cannot be removed`;
    mistakes.push(`it has ${shape.partitions} partitions, ${wanted}`);
  }
  if (mistakes.length === 0) return null;
  const fixes = wrong.map(({ setting, fix }) => `${setting}=${fix}`).join(',');
  const alter = `kafka-configs.sh --bootstrap-server ${broker} --alter --entity-type topics --entity-name ${topic}`;
  const command = fixes === '' ? '' : `; to correct: ${alter} --add-config ${fixes}`;
  return `${mistakes.join('; ')}${command}`;
}
