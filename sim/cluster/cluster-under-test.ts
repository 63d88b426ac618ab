/**
 * What a scenario is played on: quotamesh (the production core, `World`) or a baseline, in one world of virtual time.
 * One group, one lane: publish; amounts in messages and bytes. Whoever implements it schedules everything on the
 * world's `EventQueue` and draws everything from its `Random`, so that a seed replays.
 */
export interface ClusterUnderTest {
  /** `quotamesh max-min`, `pulsar`, …: the column's name in tables. */
  readonly name: string;
  /** Starts a process for a node that has none running. */
  start(node: string): void;
  /** kill -9. */
  crash(node: string): void;
  /** A clean stop: whoever says farewell does. */
  leave(node: string): void;
  /** The process runs nothing for a time: no rounds, no reads, no requests. */
  stall(node: string, durationMs: number): void;
  /** One way or both between a node and the others (or the store) are cut, or whole again. */
  cutOff(node: string, ways: Ways): void;
  /** The store or topic is away for all; systems that talk directly lose all their messages for the time. */
  setOutage(isAway: boolean): void;
  /** From now on this part (0 … 1) of what is sent is lost, repeated, or late by `lateMs`. */
  setFaults(faults: DeliveryFaults): void;
  /** The configured quota changes; how fast the nodes learn of it is the system's own. Infinity = unlimited. */
  setQuota(messagesPerSecond: number, bytesPerSecond: number): void;
  /** A piece of work arrives at a node now; true when admitted. `retry`: the same work asked before. */
  tryAcquire(node: string, messages: number, bytes: number, retry: boolean): boolean;
  /**
   * As `tryAcquire`, by a quota of its own for every key: 0 is that of the others, the next ones are like it. Absent:
   * it has one quota.
   */
  tryAcquireOf?(key: number, node: string, messages: number, bytes: number, retry: boolean): boolean;
  /**
   * A reader fetches up to a batch now, and hands back what it did not use; how many messages it got. Absent: it takes
   * them one by one.
   */
  takeBatch?(node: string, messages: number, reader: Reader): number;
  /**
   * The node's own clock shows `offsetMs` more than the world's, and gains `driftRatio`; at the latest from its next
   * start on. Absent: the system has no clocks of its own in this model.
   */
  setClock?(node: string, clock: NodeClock): void;
  /** The clock of the log or store jumps. */
  jumpClock?(byMs: number): void;
  /** From now on the node reports its usage and demand times `factor`; 1 = the truth. Absent: nobody reports. */
  setLie?(node: string, factor: number): void;
  /** The rate the node's limiter is set to, units per second; 0 while it decides nothing, Infinity without limit. */
  limitOf(node: string, dimension: 0 | 1): number;
  /** Nobody joins any more: what all have read may be let go of, for runs of hours. Absent: nothing is kept. */
  forgetPast?(): void;
  /** Everything sent so far over the topic, the store or the wire between nodes. */
  readonly sent: { readonly records: number; readonly bytes: number };
}

/** `buffer`: between two steps of a pipeline; `source`: at its beginning. Numaflow alone makes a difference. */
export type Reader = 'buffer' | 'source';

export interface Ways {
  readonly readsCut: boolean;
  readonly appendsCut: boolean;
}

export interface NodeClock {
  readonly offsetMs: number;
  readonly driftRatio: number;
}

export interface DeliveryFaults {
  readonly lostRatio: number;
  readonly repeatedRatio: number;
  readonly lateRatio: number;
  readonly lateMs: number;
}
