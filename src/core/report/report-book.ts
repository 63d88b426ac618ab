import { invariant } from '../base/invariant.js';
import type { GroupId, NodeKey } from '../base/vocabulary.js';
import { partitionOf, reportRecordKey } from '../protocol/record.js';

/** A record of this node: the groups that share one key. */
export interface Bucket {
  readonly partition: number;
  readonly number: number;
  readonly key: string;
  /** Config indices of the groups. */
  readonly groups: number[];
  dirty: boolean;
  /** Local monotonic time of the last publication; −Infinity before the first. */
  publishedMs: number;
  /** When it is published again even if nothing changes. */
  forcedAtMs: number;
}

/**
 * Which groups of this node share a record. A record must be complete for its key, because compaction keeps only the
 * newest: so whatever changes, the whole bucket is written. At the scale of bench:scale a node reads 5.3 MB a minute
 * with 4–8 groups per key, 12 MB with 80 per key, and 343 MB with one record per node.
 */
export class ReportBook {
  readonly #nodeKey: NodeKey;
  readonly #partitions: number;
  readonly #groupsPerRecord: number;
  readonly #forcedReportMs: number;
  readonly #buckets: Bucket[] = [];
  readonly #byGroup = new Map<number, Bucket>();
  readonly #byKey = new Map<string, Bucket>();
  /** Per partition, buckets with room. */
  readonly #open: Bucket[][];
  /** No bucket is due before. */
  #quietUntilMs = Number.POSITIVE_INFINITY;

  constructor(nodeKey: NodeKey, partitions: number, groupsPerRecord: number, forcedReportMs: number) {
    this.#nodeKey = nodeKey;
    this.#partitions = partitions;
    this.#groupsPerRecord = groupsPerRecord;
    this.#forcedReportMs = forcedReportMs;
    this.#open = Array.from({ length: partitions }, () => []);
  }

  get buckets(): readonly Bucket[] {
    return this.#buckets;
  }

  /** The group's bucket, assigned at its first report. */
  bucketOf(group: number, groupId: GroupId): Bucket {
    const known = this.#byGroup.get(group);
    if (known !== undefined) return known;
    const partition = partitionOf(groupId, this.#partitions);
    const open = this.#open[partition] as Bucket[];
    const bucket = open[open.length - 1] ?? this.#create(partition);
    bucket.groups.push(group);
    this.#byGroup.set(group, bucket);
    if (bucket.groups.length >= this.#groupsPerRecord) open.pop();
    return bucket;
  }

  /** The group has no entry any more; its place is free for another. */
  release(group: number): void {
    const bucket = this.#byGroup.get(group);
    if (bucket === undefined) return;
    const at = bucket.groups.indexOf(group);
    invariant(at !== -1, 'a bucket must list its groups', { group, bucket: bucket.number });
    const wasFull = bucket.groups.length >= this.#groupsPerRecord;
    bucket.groups.splice(at, 1);
    this.#byGroup.delete(group);
    if (wasFull) (this.#open[bucket.partition] as Bucket[]).push(bucket);
  }

  /** What is reported of the group is another thing now. */
  changed(group: number, groupId: GroupId): void {
    this.#mark(this.bucketOf(group, groupId));
  }

  /** Marks one key for publishing again. An earlier life may have had a bucket of this number on another partition. */
  markDirtyOn(partition: number, key: string): void {
    const bucket = this.#byKey.get(key);
    if (bucket?.partition === partition) this.#mark(bucket);
  }

  /** The bucket of a key is published again at this time at the latest. */
  forceOn(partition: number, key: string, atMs: number): void {
    const bucket = this.#byKey.get(key);
    if (bucket?.partition !== partition || bucket.forcedAtMs <= atMs) return;
    bucket.forcedAtMs = atMs;
    this.#quietUntilMs = Math.min(this.#quietUntilMs, atMs);
  }

  has(partition: number, number: number): boolean {
    return this.#buckets[number]?.partition === partition;
  }

  markAllDirty(): void {
    for (const bucket of this.#buckets) this.#mark(bucket);
  }

  /**
   * Calls `publish` for every bucket that has changed or is forced, in the order of their numbers. Most often there is
   * none, and finding that out looks at none of the node's buckets (800 at the scale of bench:scale).
   */
  forEachDue(nowMs: number, publish: (bucket: Bucket) => void): void {
    if (nowMs < this.#quietUntilMs) return;
    this.#quietUntilMs = Number.POSITIVE_INFINITY;
    for (const bucket of this.#buckets) {
      if (bucket.dirty || nowMs >= bucket.forcedAtMs) publish(bucket);
      const nextMs = bucket.dirty ? Number.NEGATIVE_INFINITY : bucket.forcedAtMs;
      if (nextMs < this.#quietUntilMs) this.#quietUntilMs = nextMs;
    }
  }

  published(bucket: Bucket, nowMs: number): void {
    bucket.dirty = false;
    bucket.publishedMs = nowMs;
    // Spread over the last tenth of the period, so that 800 buckets of a node do not come at once.
    const spread = (bucket.number * 0.618034) % 1;
    bucket.forcedAtMs = nowMs + this.#forcedReportMs * (0.9 + 0.1 * spread);
  }

  #mark(bucket: Bucket): void {
    bucket.dirty = true;
    this.#quietUntilMs = Number.NEGATIVE_INFINITY;
  }

  #create(partition: number): Bucket {
    const number = this.#buckets.length;
    const bucket: Bucket = {
      partition,
      number,
      key: reportRecordKey(this.#nodeKey, number),
      groups: [],
      dirty: false,
      publishedMs: Number.NEGATIVE_INFINITY,
      forcedAtMs: Number.POSITIVE_INFINITY,
    };
    this.#buckets.push(bucket);
    this.#byKey.set(bucket.key, bucket);
    (this.#open[partition] as Bucket[]).push(bucket);
    return bucket;
  }
}
