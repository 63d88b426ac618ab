import type { SignedEvent } from './simulated-topic.js';

export interface TopicDelays {
  /** Delays from a node to the log, and from the log to a node, each drawn uniformly between two bounds. */
  readonly appendMs: readonly [number, number];
  readonly deliveryMs: readonly [number, number];
}

/** Which parts (0 … 1) of the produces go wrong. For a produce to several partitions this is drawn per partition. */
export interface AppendFaults {
  /** These never reach the log, and the appender is told so. */
  lost: number;
  /** These are in the log, although the appender is told that they failed. */
  unacknowledged: number;
}

/** Called once per produce, with whether the whole of it is known to be in the log. */
export type ProduceEnded = (isAcknowledged: boolean) => void;

/** Which parts (0 … 1) of the deliveries come twice, or late; the order of a partition is kept. */
export interface DeliveryTroubles {
  repeatedRatio: number;
  lateRatio: number;
  lateMs: number;
}

/** Milliseconds added to the delays of all nodes. */
export interface Slowness {
  appendMs: number;
  deliveryMs: number;
}

export interface TopicListener {
  readonly onEpoch: (epoch: string) => void;
  readonly onRecords: (records: readonly SignedEvent[]) => void;
  readonly onCaughtUp: () => void;
}

/** The connection of one node: what it has read, and which ways are cut. */
export interface Connection {
  readonly listener: TopicListener;
  /** The key that signs its records; all connections have the same key if nothing is signed. */
  readonly signsWith: string;
  /**
   * For each partition that it reads: the index of the next record to deliver, and the time of the last planned
   * delivery.
   */
  readonly next: number[];
  readonly plannedMs: number[];
  /**
   * For each partition: the offsets that compaction had removed before this connection read the log. They are never
   * delivered again.
   */
  readonly removed: ReadonlySet<number>[];
  /** The log that it reads. Until it has noticed that the log is another one, this differs from the topic's. */
  epoch: string;
  readsCut: boolean;
  appendsCut: boolean;
  /** Added to the delay of every delivery to this node. */
  lateMs: number;
  isClosed: boolean;
  isOpen: boolean;
}

/** A connection that has read nothing yet. */
export function createConnection(
  listener: TopicListener,
  { signsWith, partitions, epoch }: Pick<Connection, 'signsWith' | 'epoch'> & { readonly partitions: number },
): Connection {
  return {
    listener,
    signsWith,
    epoch,
    next: new Array<number>(partitions).fill(0),
    plannedMs: new Array<number>(partitions).fill(0),
    removed: [],
    readsCut: false,
    appendsCut: false,
    lateMs: 0,
    isClosed: false,
    isOpen: false,
  };
}

/**
 * Notes what compaction has removed: whatever is in `partitions` but not in `history`, which is all that the connection
 * was given.
 */
export function noteRemoved<Read extends { readonly offset: number }>(
  { next, removed }: Connection,
  partitions: readonly (readonly Read[])[],
  history: readonly Read[],
): void {
  const given = new Set(history);
  for (let at = 0; at < next.length; at++) {
    const gone = partitions[at].filter((record) => !given.has(record));
    removed[at] = new Set(gone.map(({ offset }) => offset));
  }
}
