import { invariant } from '../base/invariant.js';
import { BUNDLES_MAX, partitionOf, reportRecordKey } from '../base/protocol/record.js';
import type { CoordinatorSettings } from '../base/settings.js';
import type { GroupId, NodeKey } from '../base/vocabulary.js';
import type { ReportReason } from './report-reason.js';

/** A record of this node: the groups that share one key. */
export interface Bundle {
  readonly partition: number;
  readonly number: number;
  readonly key: string;
  /** Config indices of the groups. */
  readonly groups: number[];
  dirty: boolean;
  /** What made it due, or will if nothing else does before. */
  reason: ReportReason;
  /**
   * Largest error of what others know of its groups since the last publication, in parts of what makes a report due.
   */
  deviation: number;
  /** Since when the budget has held it back; Infinity = it does not. */
  dueSinceMs: number;
  /** Local monotonic time of the last publication; −Infinity before the first. */
  publishedMs: number;
  /** When it is published again even if nothing changes. */
  forcedAtMs: number;
}

export type ReportBookSettings = Pick<
  CoordinatorSettings,
  'partitions' | 'groupsPerRecord' | 'forcedReportMs' | 'maxGroupsPerNode'
>;

/**
 * Decides which groups of this node share a record. Compaction keeps only the newest record of a key, so each record
 * has to be complete: when one group changes, its whole bundle is written. At the scale of bench:scale a node reads 5.3
 * MB a minute with 4–8 groups per key, 12 MB with 80 per key, and 343 MB with one record per node.
 */
export class ReportBook {
  readonly #nodeKey: NodeKey;
  readonly #partitions: number;
  readonly #groupsPerRecord: number;
  readonly #forcedReportMs: number;
  readonly #bundlesMax: number;
  /** Tests if the log holds a record of a past life under a key, which newcomers have to find. */
  readonly #isTaken: (partition: number, number: number) => boolean;
  readonly #bundles: Bundle[] = [];
  readonly #byNumber = new Map<number, Bundle>();
  #next = 0;
  /** Numbers that were taken. */
  readonly #passed: number[] = [];
  readonly #byGroup = new Map<number, Bundle>();
  readonly #byKey = new Map<string, Bundle>();
  /** Per partition, bundles with room. */
  readonly #open: Bundle[][];
  /** No bundle is due before. */
  #quietUntilMs = Infinity;

  constructor(nodeKey: NodeKey, settings: ReportBookSettings, isTaken: (partition: number, number: number) => boolean) {
    const { partitions, groupsPerRecord, forcedReportMs, maxGroupsPerNode } = settings;
    this.#nodeKey = nodeKey;
    this.#partitions = partitions;
    this.#groupsPerRecord = groupsPerRecord;
    this.#forcedReportMs = forcedReportMs;
    this.#bundlesMax = Math.min(BUNDLES_MAX, (maxGroupsPerNode ?? Infinity) / groupsPerRecord);
    this.#isTaken = isTaken;
    this.#open = Array.from({ length: partitions }, () => []);
  }

  get bundles(): readonly Bundle[] {
    return this.#bundles;
  }

  /** The group's bundle, assigned at its first report. */
  bundleOf(group: number, groupId: GroupId): Bundle {
    const known = this.#byGroup.get(group);
    if (known !== undefined) return known;
    const partition = partitionOf(groupId, this.#partitions);
    const open = this.#open[partition];
    const bundle = open[open.length - 1] ?? this.#create(partition);
    bundle.groups.push(group);
    this.#byGroup.set(group, bundle);
    if (bundle.groups.length >= this.#groupsPerRecord) open.pop();
    return bundle;
  }

  /** The group has no entry any more; its slot is free for another. */
  release(group: number): void {
    const bundle = this.#byGroup.get(group);
    if (bundle === undefined) return;
    const at = bundle.groups.indexOf(group);
    invariant(at !== -1, 'a bundle must list its groups', { group, bundle: bundle.number });
    const wasFull = bundle.groups.length >= this.#groupsPerRecord;
    bundle.groups.splice(at, 1);
    this.#byGroup.delete(group);
    if (wasFull) this.#open[bundle.partition].push(bundle);
  }

  /** Marks the group's bundle, because its report has changed. @param deviation see Bundle */
  changed(group: number, groupId: GroupId, reason: ReportReason, deviation = 0): void {
    const bundle = this.bundleOf(group, groupId);
    bundle.deviation = Math.max(bundle.deviation, deviation);
    this.#mark(bundle, reason);
  }

  /** The group's bundle is published again at this time at the latest. */
  forceBy(group: number, groupId: GroupId, reason: ReportReason, atMs: number): void {
    this.#force(this.bundleOf(group, groupId), reason, atMs);
  }

  /** Tests if the budget holds back the report that has to tell of the group. */
  isHeldBack(group: number): boolean {
    return (this.#byGroup.get(group)?.dueSinceMs ?? Infinity) !== Infinity;
  }

  /** Marks one key for publishing again. An earlier life may have had a bundle of this number on another partition. */
  markDirtyOn(partition: number, key: string): void {
    const bundle = this.#byKey.get(key);
    if (bundle?.partition === partition) this.#mark(bundle, 'again');
  }

  /** The bundle of a key is published again at this time at the latest. */
  forceOn(partition: number, key: string, atMs: number): void {
    const bundle = this.#byKey.get(key);
    if (bundle?.partition === partition) this.#force(bundle, 'again', atMs);
  }

  has(partition: number, number: number): boolean {
    return this.#byNumber.get(number)?.partition === partition;
  }

  markAllDirty(): void {
    for (const bundle of this.#bundles) this.#mark(bundle, 'came-back');
  }

  /**
   * Calls `publish` for every bundle that has changed or is forced, in the order of their numbers. Most often there is
   * none, and finding that out looks at none of the node's bundles (800 at the scale of bench:scale).
   */
  forEachDue(nowMs: number, publish: (bundle: Bundle) => void): void {
    if (nowMs < this.#quietUntilMs) return;
    this.#quietUntilMs = Infinity;
    for (const bundle of this.#bundles) {
      if (bundle.dirty || nowMs >= bundle.forcedAtMs) publish(bundle);
      const nextMs = bundle.dirty ? -Infinity : bundle.forcedAtMs;
      if (nextMs < this.#quietUntilMs) this.#quietUntilMs = nextMs;
    }
  }

  published(bundle: Bundle, nowMs: number): void {
    bundle.dirty = false;
    bundle.reason = 'forced';
    bundle.deviation = 0;
    bundle.dueSinceMs = Infinity;
    bundle.publishedMs = nowMs;
    // Spread over the last tenth of the period, so that 800 bundles of a node do not come at once.
    const spread = (bundle.number * 0.618034) % 1;
    bundle.forcedAtMs = nowMs + this.#forcedReportMs * (0.9 + 0.1 * spread);
  }

  #mark(bundle: Bundle, reason: ReportReason): void {
    if (!bundle.dirty) bundle.reason = reason;
    bundle.dirty = true;
    this.#quietUntilMs = -Infinity;
  }

  #force(bundle: Bundle, reason: ReportReason, atMs: number): void {
    if (bundle.forcedAtMs <= atMs) return;
    if (!bundle.dirty) bundle.reason = reason;
    bundle.forcedAtMs = atMs;
    this.#quietUntilMs = Math.min(this.#quietUntilMs, atMs);
  }

  /** A number for a record that is written once. */
  takeNumber(partition: number): number {
    return this.#numberFor(partition);
  }

  /** The next number that is free; where too many are taken, one that is: others would refuse a higher one. */
  #numberFor(partition: number): number {
    while (this.#next < this.#bundlesMax && this.#isTaken(partition, this.#next)) this.#passed.push(this.#next++);
    if (this.#next >= this.#bundlesMax && this.#passed.length > 0) return this.#passed.pop() as number;
    return this.#next++;
  }

  #create(partition: number): Bundle {
    const number = this.#numberFor(partition);
    const bundle: Bundle = {
      partition,
      number,
      key: reportRecordKey(this.#nodeKey, number),
      groups: [],
      dirty: false,
      reason: 'forced',
      deviation: 0,
      dueSinceMs: Infinity,
      publishedMs: -Infinity,
      forcedAtMs: Infinity,
    };
    this.#bundles.push(bundle);
    this.#byNumber.set(number, bundle);
    this.#byKey.set(bundle.key, bundle);
    this.#open[partition].push(bundle);
    return bundle;
  }
}
