import type { SignedEvent } from './simulated-topic.js';

export interface TopicDelays {
  /** From a node to the log, and from the log to a node; uniform between the two. */
  readonly appendMs: readonly [number, number];
  readonly deliveryMs: readonly [number, number];
}

/** The parts of the produces, 0 … 1, that go wrong. A produce to several partitions goes wrong for each by itself. */
export interface AppendFaults {
  /** Never reaches the log; the appender is told so. */
  lost: number;
  /** Is in the log although the appender is told that it failed. */
  unacknowledged: number;
}

/** Called once per produce, with whether all of it is known to be in the log. */
export type ProduceEnded = (isAcknowledged: boolean) => void;

/** The parts of the deliveries, 0 … 1, that come twice, or late; the order of a partition is kept. */
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

/** One node's connection: what it has read, and which ways are cut. */
export interface Connection {
  readonly listener: TopicListener;
  /** The key by which its records are signed; all have the same key if nothing is signed. */
  readonly signsWith: string;
  /** Per partition that there was: index of the next record to deliver, and the time of the last planned delivery. */
  readonly next: number[];
  readonly plannedMs: number[];
  /** Per partition: offsets that compaction had removed before this connection read the log; never delivered again. */
  readonly removed: ReadonlySet<number>[];
  /** The log that is being read; another one than the topic's until the connection has noticed. */
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

/** Notes what is in `partitions` and not in `history`, which is all that the connection was given of them. */
export function noteRemoved<Read extends { readonly offset: number }>(
  { next, removed }: Connection,
  partitions: readonly (readonly Read[])[],
  history: readonly Read[],
): void {
  const given = new Set(history);
  for (let at = 0; at < next.length; at++) {
    const gone = (partitions[at] as readonly Read[]).filter((record) => !given.has(record));
    removed[at] = new Set(gone.map(({ offset }) => offset));
  }
}
