/** What can happen to a cluster, and what each kind does to its nodes: the schedule draws from it, the judge reads it. */

export type FaultKind = keyof typeof FAULTS;

/**
 * What a fault means in the words of docs/operate/when-the-topic-is-away.md:
 *
 * alone:   the nodes it hits have lost the topic, or have it late, while the others go on with it
 * topic:   the whole topic is away, or some of its partitions, for everybody
 * process: a node decides nothing while it lasts, or leaves and comes: it adds nothing
 */
export type FaultScope = 'alone' | 'topic' | 'process';

interface FaultRow {
  readonly scope: FaultScope;
  readonly what: string;
  /** How long it lasts, milliseconds; of what happens at a moment: 0, or the pause in the middle of it. */
  readonly lastsMs: readonly [number, number];
  /** Whom it is drawn for. */
  readonly hits: 'node' | 'broker' | 'node and broker' | 'nobody';
  /** Faults with the same word do not overlap: Kafka's controllers would refuse what we want of them. */
  readonly excludes?: 'brokers';
  /** Kinds at whose side it would hit a node that has a fault already, or one that is turned away. */
  readonly without?: readonly string[];
}

const ROWS = {
  'node-kill': { scope: 'process', what: 'node killed with -9, started again', lastsMs: [500, 9000], hits: 'node' },
  'node-restart': { scope: 'process', what: 'node leaves (SIGTERM) and returns', lastsMs: [500, 6000], hits: 'node' },
  'rolling-deploy': {
    scope: 'process',
    what: 'every node in turn leaves (SIGTERM) and returns',
    lastsMs: [0, 0],
    hits: 'nobody',
    without: [
      'node-kill',
      'node-restart',
      'node-freeze',
      'node-twice',
      'partitions-added',
      'link-reset',
      'link-drop',
      'link-half-open',
      'link-delay',
      'link-one-broker',
    ],
  },
  'node-freeze': { scope: 'process', what: 'node frozen (SIGSTOP)', lastsMs: [1000, 14_000], hits: 'node' },
  'node-twice': { scope: 'process', what: 'second process with the id', lastsMs: [5000, 10_000], hits: 'node' },
  'link-reset': { scope: 'alone', what: 'node cut off, connections reset', lastsMs: [2000, 16_000], hits: 'node' },
  'link-drop': { scope: 'alone', what: 'node cut off, packets dropped', lastsMs: [2000, 16_000], hits: 'node' },
  'link-half-open': { scope: 'alone', what: 'node sends but hears nothing', lastsMs: [2000, 16_000], hits: 'node' },
  'link-delay': { scope: 'alone', what: 'way to the brokers slow', lastsMs: [4000, 12_000], hits: 'node' },
  'link-one-broker': {
    scope: 'alone',
    what: 'node cut off from one broker',
    lastsMs: [3000, 14_000],
    hits: 'node and broker',
  },
  'broker-kill': {
    scope: 'topic',
    what: 'broker killed with -9, started again',
    lastsMs: [3000, 12_000],
    hits: 'broker',
    excludes: 'brokers',
  },
  'broker-freeze': {
    scope: 'topic',
    what: 'broker frozen (SIGSTOP)',
    lastsMs: [2000, 14_000],
    hits: 'broker',
    excludes: 'brokers',
  },
  'broker-disk-full': {
    scope: 'topic',
    what: 'disk of a broker full',
    lastsMs: [5000, 12_000],
    hits: 'broker',
    excludes: 'brokers',
  },
  'brokers-two-killed': {
    scope: 'topic',
    what: 'two brokers killed: below min.insync.replicas',
    lastsMs: [4000, 12_000],
    hits: 'broker',
    excludes: 'brokers',
  },
  'brokers-all-frozen': {
    scope: 'topic',
    what: 'all brokers frozen',
    lastsMs: [2000, 14_000],
    hits: 'nobody',
    excludes: 'brokers',
  },
  'leader-moved': {
    scope: 'topic',
    what: 'every partition led by another broker',
    lastsMs: [0, 0],
    hits: 'broker',
    excludes: 'brokers',
  },
  'topic-anew': {
    scope: 'topic',
    what: 'topic deleted and made anew',
    lastsMs: [0, 8000],
    hits: 'nobody',
    excludes: 'brokers',
  },
  'partitions-added': {
    scope: 'topic',
    what: 'partitions added, a node started, the topic made anew as it was',
    lastsMs: [8000, 12_000],
    hits: 'node',
    excludes: 'brokers',
    without: ['node-kill', 'node-restart', 'node-twice'],
  },
} satisfies Readonly<Record<string, FaultRow>>;

export const FAULTS: Readonly<Record<keyof typeof ROWS, FaultRow>> = ROWS;
export const FAULT_KINDS = Object.keys(ROWS) as readonly FaultKind[];
