import type { SignedEvent } from './simulated-topic.js';

export interface TopicDelays {
  /** Least and most delays, drawn evenly, to and from the log. */
  readonly appendMs: readonly [number, number];
  readonly deliveryMs: readonly [number, number];
}

export interface AppendFaults {
  /** Part that never reaches the log; the appender is told. */
  lost: number;
  /** Part in the log although the appender is told of a failure. */
  unacknowledged: number;
}

/** Called once per produce; true = all of it is known to be in the log. */
export type ProduceEnded = (isAcknowledged: boolean) => void;

export interface DeliveryTroubles {
  repeatedRatio: number;
  lateRatio: number;
  lateMs: number;
}

/** Milliseconds added to all delays. */
export interface Slowness {
  appendMs: number;
  deliveryMs: number;
}

export interface TopicListener {
  readonly onEpoch: (epoch: string) => void;
  readonly onRecords: (records: readonly SignedEvent[]) => void;
  readonly onCaughtUp: () => void;
}

/** Connection of one node: what it read, and cut ways. */
export interface Connection {
  readonly listener: TopicListener;
  /** Counts the topic's connections. */
  readonly number: number;
  /** Key that signs its records; without signatures all are the same. */
  readonly signsWith: string;
  /** Per partition: next record's index, and the last planned delivery. */
  readonly next: number[];
  readonly plannedMs: number[];
  /** Per partition: offsets compacted before it read; never delivered. */
  readonly removed: ReadonlySet<number>[];
  /** Log that it reads, until it notices another. */
  epoch: string;
  readsCut: boolean;
  appendsCut: boolean;
  /** Milliseconds added to deliveries. */
  lateMs: number;
  isClosed: boolean;
  isOpen: boolean;
}

/** A connection that has read nothing yet. */
export function createConnection(
  listener: TopicListener,
  partitions: number,
  known: Pick<Connection, 'number' | 'signsWith' | 'epoch'>,
): Connection {
  return {
    ...known,
    listener,
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

/** Notes compacted offsets: in `partitions`, but not in the given `history`. */
export function noteRemoved(
  { next, removed }: Connection,
  partitions: readonly (readonly SignedEvent[])[],
  history: readonly SignedEvent[],
): void {
  const given = new Set(history);
  for (let at = 0; at < next.length; at++) {
    const gone = partitions[at].filter((record) => !given.has(record));
    removed[at] = new Set(gone.map(({ offset }) => offset));
  }
}
