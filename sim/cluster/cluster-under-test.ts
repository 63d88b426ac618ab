import type { BucketSeen } from '../../src/core/machine/bucket-seen.js';

/**
 * What a scenario is played on: quotamesh (the production core, `World`) or a baseline, in one world of virtual time.
 * It has one group and one lane, publish; amounts are messages and bytes. An implementation schedules everything on the
 * world's `EventQueue` and draws everything from its `Random`, so that the same seed plays the same run again.
 */
export interface ClusterUnderTest {
  /** The column's name in tables: `quotamesh max-min`, `pulsar`, … */
  readonly name: string;
  /** Starts a process for a node that has none running. */
  start(node: string): void;
  /** Ends the process as kill -9 does. */
  crash(node: string): void;
  /** Stops the process cleanly; in systems with a farewell it sends one. */
  leave(node: string): void;
  /** Freezes the process for a time: it runs no rounds, no reads, no requests. */
  stall(node: string, durationMs: number): void;
  /** Cuts ways between a node and the others (or the store), or makes them whole again. */
  cutOff(node: string, ways: Ways): void;
  /**
   * The store or topic is away for all nodes, or back. Systems whose nodes talk directly lose all their messages
   * meanwhile.
   */
  setOutage(isAway: boolean): void;
  /** From now on these parts (0 … 1) of what is sent are lost, repeated, or late by `lateMs`. */
  setFaults(faults: DeliveryFaults): void;
  /** Changes the configured quota; Infinity = unlimited. How fast the nodes learn of it is up to the system. */
  setQuota(messagesPerSecond: number, bytesPerSecond: number): void;
  /**
   * A piece of work arrives at a node now. Returns whether it was admitted.
   *
   * @param retry true = the same work has asked before
   */
  tryAcquire(node: string, messages: number, bytes: number, retry: boolean): boolean;
  /**
   * As `tryAcquire`, but every key has a quota of its own: key 0 the quota of the other calls, further keys quotas of
   * the same size. Absent: the system has only one quota.
   */
  tryAcquireOf?(key: number, node: string, messages: number, bytes: number, retry: boolean): boolean;
  /**
   * A reader fetches up to a batch now, and refunds what it did not use. Returns how many messages it got. Absent: the
   * reader takes them one by one.
   */
  takeBatch?(node: string, messages: number, reader: Reader): number;
  /**
   * The node's own clock shows `offsetMs` more than the world's, and gains `driftRatio`, from the node's next start on
   * at the latest. Absent: the system has no clocks of its own in this model.
   */
  setClock?(node: string, clock: NodeClock): void;
  /** The clock of the log or store jumps by this much. */
  jumpClock?(byMs: number): void;
  /**
   * From now on the node reports its usage and demand times `factor`; 1 = the truth. Absent: the system's nodes report
   * nothing.
   */
  setLie?(node: string, factor: number): void;
  /**
   * The rate that the node's limiter enforces in the long run, in units per second; 0 while it decides nothing,
   * Infinity without limit.
   */
  limitOf(node: string, dimension: 0 | 1): number;
  /** The bucket that the nodes have in common, as the first one that runs sees it; null or absent: they have none. */
  bucketOf?(dimension: 0 | 1): BucketSeen | null;
  /**
   * Frees what all nodes have read, for runs of hours; no node joins after this. Absent: the system keeps nothing of
   * the past.
   */
  forgetPast?(): void;
  /** Everything sent so far over the topic, over the store's network, or between nodes. */
  readonly sent: { readonly records: number; readonly bytes: number };
}

/**
 * Where a reader stands in a pipeline: `source` = at its beginning, `buffer` = between two steps. Only Numaflow treats
 * the two differently.
 */
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
