import { BUNDLES_MAX } from '../base/constants.js';
import { invariant } from '../base/invariant.js';
import { partitionOf, reportRecordKey } from '../base/protocol/record.js';
import type { CoordinatorSettings } from '../base/settings.js';
import type { GroupId, NodeKey } from '../base/vocabulary.js';
import type { ReportReason } from './report-reason.js';

/** A record of this node: the groups that share one key. */
export interface Bundle {
  readonly partition: number;
  readonly number: number;
  readonly key: string;
  readonly groups: number[];
  dirty: boolean;
  /** Reason of its next publication. */
  reason: ReportReason;
  /** Largest error of its published groups ÷ that of a due report. */
  deviation: number;
  /** Time since which the budget holds it back; Infinity = it does not. */
  dueSinceMs: number;
  /** Local monotonic time of the last publication; −Infinity before the first. */
  publishedMs: number;
  /** Time at which it is published again even without a change. */
  forcedAtMs: number;
}

export type ReportBookSettings = Pick<
  CoordinatorSettings,
  'partitions' | 'groupsPerRecord' | 'forcedReportMs' | 'maxGroupsPerNode'
>;

/**
 * Decides which groups of this node share a record. Compaction keeps only the newest record of a key, so each record
 * has to be complete: when one group changes, its whole bundle is written. The more groups a key has, the more bytes
 * all nodes read per change.
 */
export class ReportBook {
  readonly #nodeKey: NodeKey;
  readonly #settings: ReportBookSettings;
  readonly #bundlesMax: number;
  /** Tests if newcomers need a past life's record under this key. */
  readonly #isTaken: (partition: number, number: number) => boolean;
  readonly #bundles: Bundle[] = [];
  readonly #byNumber = new Map<number, Bundle>();
  #next = 0;
  readonly #passed: number[] = [];
  readonly #byGroup = new Map<number, Bundle>();
  readonly #byKey = new Map<string, Bundle>();
  /** Per partition, bundles with room. */
  readonly #open: Bundle[][];
  /** Time before which no bundle is due. */
  #quietUntilMs = Infinity;

  constructor(nodeKey: NodeKey, settings: ReportBookSettings, isTaken: (partition: number, number: number) => boolean) {
    const { partitions, groupsPerRecord, maxGroupsPerNode } = settings;
    this.#nodeKey = nodeKey;
    this.#settings = settings;
    this.#bundlesMax = Math.min(BUNDLES_MAX, (maxGroupsPerNode ?? Infinity) / groupsPerRecord);
    this.#isTaken = isTaken;
    this.#open = Array.from({ length: partitions }, () => []);
  }

  get bundles(): readonly Bundle[] {
    return this.#bundles;
  }

  /** Returns the group's bundle, assigned at its first report. */
  bundleOf(group: number, groupId: GroupId): Bundle {
    const known = this.#byGroup.get(group);
    if (known !== undefined) return known;
    const partition = partitionOf(groupId, this.#settings.partitions);
    const open = this.#open[partition];
    const bundle = open[open.length - 1] ?? this.#create(partition);
    bundle.groups.push(group);
    this.#byGroup.set(group, bundle);
    if (bundle.groups.length >= this.#settings.groupsPerRecord) open.pop();
    return bundle;
  }

  /** Releases a group without an entry; another one may take its slot. */
  release(group: number): void {
    const bundle = this.#byGroup.get(group);
    if (bundle === undefined) return;
    const at = bundle.groups.indexOf(group);
    invariant(at !== -1, 'a bundle must list its groups', { group, bundle: bundle.number });
    const wasFull = bundle.groups.length >= this.#settings.groupsPerRecord;
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

  /** Publishes the group's bundle again at this time at the latest. */
  forceBy(group: number, groupId: GroupId, reason: ReportReason, atMs: number): void {
    this.#force(this.bundleOf(group, groupId), reason, atMs);
  }

  /** Tests if the budget holds back a due report of the group. */
  isHeldBack(group: number): boolean {
    return (this.#byGroup.get(group)?.dueSinceMs ?? Infinity) !== Infinity;
  }

  /** Marks one key for publishing again. An earlier life may have had a bundle of this number on another partition. */
  markDirtyOn(partition: number, key: string): void {
    const bundle = this.#byKey.get(key);
    if (bundle?.partition === partition) this.#mark(bundle, 'again');
  }

  /** Publishes the bundle of a key again by this time. */
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

  /** Calls `publish` for every changed or forced bundle, by number; reads none where none is due. */
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
    // Spread over the last tenth of the period, so that the bundles of a node do not come at once.
    const spread = (bundle.number * 0.618034) % 1;
    bundle.forcedAtMs = nowMs + this.#settings.forcedReportMs * (0.9 + 0.1 * spread);
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

  /**
   * Takes the next free number. Where too many are taken, it is a taken one, because others would refuse a higher one.
   */
  takeNumber(partition: number): number {
    while (this.#next < this.#bundlesMax && this.#isTaken(partition, this.#next)) this.#passed.push(this.#next++);
    if (this.#next >= this.#bundlesMax && this.#passed.length > 0) return this.#passed.pop() as number;
    return this.#next++;
  }

  #create(partition: number): Bundle {
    const number = this.takeNumber(partition);
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
