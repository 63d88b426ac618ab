/** Settings of a topic of reports. */
export interface TopicShape {
  readonly partitions: number;
  /** Name → value of every setting, the broker's defaults included. */
  readonly settings: ReadonlyMap<string, string>;
  /** True = records are never written again, as in the registry's topic. */
  readonly keepsForever?: boolean;
  /** Set where strict groups depend on it. */
  readonly strict?: { readonly acceptsSingle: boolean; readonly replicas: number } | null;
}

export const PARTITIONS_MAX = 16;
/** Bytes for two parcels of outbox.ts with overhead; Kafka's default is a little more. */
const MESSAGE_BYTES_MIN = 1_000_000;
/**
 * Least retention of `compact,delete` and tombstones, ms. Reports repeat every 5 minutes: after an hour only dead
 * nodes' are forgotten.
 */
const RETENTION_MS_MIN = 3_600_000;

export const CREATED_WITH: Readonly<Record<string, string>> = {
  'cleanup.policy': 'compact',
  // One clock for staleness and ramps, the log's, not every sender's.
  'message.timestamp.type': 'LogAppendTime',
  // Batches stay as sent: a broker's own codec might be unreadable for some nodes.
  'compression.type': 'producer',
  // The active segment is never compacted: a new one every 5 minutes bounds a newcomer's reading.
  'segment.ms': '300000',
  'min.cleanable.dirty.ratio': '0.1',
  'max.compaction.lag.ms': '600000',
  // A reader away for so long still sees every tombstone.
  'delete.retention.ms': '86400000',
};

interface Rule {
  readonly setting: string;
  /** Requirement in messages; `fix` is the remedy's value. */
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

/** Rules of a topic of strict groups: what Kafka has acknowledged must not be lost. Nodes write with acks=all. */
const STRICT_RULES: readonly Rule[] = [
  {
    setting: 'unclean.leader.election.enable',
    wanted: 'false: an unclean leader forgets what strict groups have granted',
    fix: 'false',
    isRight: (value) => value === 'false',
  },
  {
    setting: 'min.insync.replicas',
    wanted: 'at least 2, or topic.acceptSingleReplica: true',
    fix: '2',
    isRight: (value) => Number(value) >= 2,
  },
];
/** Copies of which one may be lost, with those in sync left. */
const STRICT_REPLICAS = 3;

/** Further settings with which a topic of strict groups is created. */
export function strictlyCreatedWith(acceptsSingle: boolean): Readonly<Record<string, string>> {
  const safe = { 'unclean.leader.election.enable': 'false' };
  return acceptsSingle ? safe : { ...safe, 'min.insync.replicas': '2' };
}

/** Copies of a new topic of strict groups, where none are configured. */
export function strictReplicas(configured: number, acceptsSingle: boolean): number {
  return configured === -1 && !acceptsSingle ? STRICT_REPLICAS : configured;
}

export const VERIFIED_SETTINGS = [...RULES, ...STRICT_RULES].map(({ setting }) => setting);

/** Lists every mistake with the correcting command; null = the topic can be used. */
export function settingsMistake(topic: string, shape: TopicShape, broker: string): string | null {
  const { strict = null } = shape;
  const kept = shape.keepsForever === true ? [KEEPS_FOREVER, ...RULES.slice(1)] : RULES;
  const rules = strict === null ? kept : [...kept, ...STRICT_RULES.slice(0, strict.acceptsSingle ? 1 : 2)];
  const wrong = rules.filter(({ setting, isRight }) => {
    const value = shape.settings.get(setting);
    return value !== undefined && !isRight(value, shape.settings);
  });
  const mistakes = wrong.map(({ setting, wanted }) => `${setting} is ${shape.settings.get(setting)}, wanted ${wanted}`);
  if (shape.partitions > PARTITIONS_MAX) {
    const wanted = `wanted 1 to ${PARTITIONS_MAX}: create a new topic, partitions cannot be removed`;
    mistakes.push(`it has ${shape.partitions} partitions, ${wanted}`);
  }
  if (strict !== null && !strict.acceptsSingle && strict.replicas < STRICT_REPLICAS) {
    const wanted = `wanted ${STRICT_REPLICAS} for strict groups: reassign it, or set topic.acceptSingleReplica: true`;
    mistakes.push(`it has ${strict.replicas} replica${strict.replicas === 1 ? '' : 's'}, ${wanted}`);
  }
  if (mistakes.length === 0) return null;
  const fixes = wrong.map(({ setting, fix }) => `${setting}=${fix}`).join(',');
  const alter = `kafka-configs.sh --bootstrap-server ${broker} --alter --entity-type topics --entity-name ${topic}`;
  const command = fixes === '' ? '' : `; to correct: ${alter} --add-config ${fixes}`;
  return `${mistakes.join('; ')}${command}`;
}
