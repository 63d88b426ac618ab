import type { BucketSeen } from '../../src/core/machine/bucket-seen.js';

/**
 * System of a scenario, quotamesh (`World`) or a baseline, in virtual time: one group, one lane (publish), messages and
 * bytes. It schedules on the world's `EventQueue` and draws from its `Random`: a seed plays one run.
 */
export interface ClusterUnderTest {
  /** Name in tables: `quotamesh max-min`, `pulsar`. */
  readonly name: string;
  start(node: string): void;
  crash(node: string): void;
  /** Stops cleanly, with a farewell in systems that have one. */
  leave(node: string): void;
  /** Freezes the process: no rounds, reads or requests. */
  stall(node: string, durationMs: number): void;
  /** Cuts, or mends, ways between a node and others (the store). */
  cutOff(node: string, ways: Ways): void;
  /** Takes the store or topic away, or brings it back; direct messages are lost meanwhile. */
  setOutage(isAway: boolean): void;
  /** Sets the parts (0 … 1) of messages lost, repeated, or late. `lateMs` is how late. */
  setFaults(faults: DeliveryFaults): void;
  /** Changes the quota, Infinity = unlimited; the system spreads it. */
  setQuota(messagesPerSecond: number, bytesPerSecond: number): void;
  /** Lets work arrive; returns true if admitted. @param retry true = it was tried before */
  tryAcquire(node: string, messages: number, bytes: number, retry: boolean): boolean;
  /** As `tryAcquire` with a quota per key, all alike; absent: one quota only. */
  tryAcquireOf?(key: number, node: string, messages: number, bytes: number, retry: boolean): boolean;
  /** Fetches up to a batch, refunding the unused; returns messages got. Absent: one by one. */
  takeBatch?(node: string, messages: number, reader: Reader): number;
  /** Sets the node's clock `offsetMs` ahead, gaining `driftRatio`, by its next start. Absent: no own clocks. */
  setClock?(node: string, clock: NodeClock): void;
  /** Makes the log's or store's clock jump. */
  jumpClock?(byMs: number): void;
  /** Multiplies the node's reports by `factor`; 1 = the truth. Absent: no reports. */
  setLie?(node: string, factor: number): void;
  limitOf(node: string, dimension: 0 | 1): number;
  /** Returns the nodes' common bucket as the first running one sees it; null or absent: none. */
  bucketOf?(dimension: 0 | 1): BucketSeen | null;
  /** Frees what all nodes have read; none may join later. Absent: nothing is kept. */
  forgetPast?(): void;
  /** Sent so far over topic, store's network, or between nodes. */
  readonly sent: { readonly records: number; readonly bytes: number };
}

/** System for replays alone: nodes decide nothing, and answers come later. */
export interface AskedCluster extends Pick<ClusterUnderTest, 'name' | 'start' | 'limitOf' | 'sent'> {
  /** Sends a request; `answer` is called once, when it is back. */
  ask(node: string, messages: number, bytes: number, answer: (isAdmitted: boolean) => void): void;
}

/** Place of a reader: `source` = the pipeline's beginning, `buffer` = between steps. Only Numaflow tells them apart. */
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
