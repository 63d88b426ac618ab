import {
  type CoordinatorEvent,
  clearEffects,
  createEffects,
  type Effects,
  type ReadEvent,
} from './coordinator-protocol.js';
import { Heartbeat } from './heartbeat.js';
import { groupIdOf, incarnationCount, incarnationOf, nodeKeyOf } from './ids.js';
import { invariant } from './invariant.js';
import { createLaneState, type LaneState } from './lane-state.js';
import type { Limiter } from './limiter/limiter.js';
import { nodeRecordKey, type TopicRecord } from './report/record.js';
import { type Bucket, partitionOf, ReportBook } from './report/report-book.js';
import { Reporter } from './report/reporter.js';
import { beginLastLook } from './report/settling.js';
import type { CoordinatorSettings, GroupSettings } from './settings.js';
import { LinkWatch } from './share/link-watch.js';
import { ShareBook } from './share/share-book.js';
import { tombstonesOfForgotten } from './usage-map/forget.js';
import { LogReader, MEMBERSHIP_PARTITION } from './usage-map/log-reader.js';
import { Membership } from './usage-map/membership.js';
import { UsageMap } from './usage-map/usage-map.js';
import { DIRECTION_COUNT, type Incarnation, laneOf, type NodeKey } from './vocabulary.js';

/** `joining` until the own NODE record is read back, `stalled` from a long gap between rounds until the same. */
export type Phase = 'catching-up' | 'joining' | 'ready' | 'stalled' | 'stopping' | 'fenced';

/** How often shares are confirmed and idle lanes looked for; a fraction of shareValidMs. */
const HOUSEKEEPING_MS = 250;

/**
 * The machine: event + now → effects (DESIGN §3). It owns all state of the core but the limiter's columns, which it only reads.
 * Same events at the same times give the same effects. The effects are a buffer that the next step reuses.
 */
export class Coordinator {
  readonly nodeKey: NodeKey;
  readonly settings: CoordinatorSettings;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  readonly shares: ShareBook;
  readonly log: LogReader;
  readonly link: LinkWatch;
  readonly lanes = new Map<number, LaneState>();
  phase: Phase = 'catching-up';
  incarnation: Incarnation = 0;
  /** From appending the last own report to reading it back. */
  reportRoundTripMs = 0;
  readonly #limiter: Limiter;
  readonly #effects: Effects = createEffects();
  readonly #book: ReportBook;
  readonly #reporter: Reporter;
  readonly #heartbeat: Heartbeat;
  readonly #laneByMapLane = new Map<number, LaneState>();
  readonly #dirtyLanes = new Set<LaneState>();
  #sequence = 0;
  #readyMs = 0;
  #lastRoundMs = Number.NaN;
  #lastHousekeepingMs = Number.NEGATIVE_INFINITY;

  constructor(settings: CoordinatorSettings, limiter: Limiter) {
    const laneCount = settings.groups.length * DIRECTION_COUNT;
    invariant(limiter.laneCount === laneCount, 'the limiter must have a row per lane', { laneCount });
    this.settings = settings;
    this.#limiter = limiter;
    this.nodeKey = nodeKeyOf(settings.cluster, settings.nodeId);
    this.membership = new Membership(settings.stalenessMs);
    this.usageMap = new UsageMap(this.membership, (mapLane) => this.#markMapLane(mapLane));
    this.shares = new ShareBook(settings, laneCount, this.membership, this.usageMap);
    const { partitions, heartbeatMs } = settings;
    this.log = new LogReader(partitions, heartbeatMs, this.membership, this.usageMap, this.#effects.notices);
    this.link = new LinkWatch(settings, this.#effects.notices);
    this.#heartbeat = new Heartbeat(settings);
    this.#book = new ReportBook(this.nodeKey, partitions, settings.groupsPerRecord, settings.forcedReportMs);
    this.#reporter = new Reporter(settings, limiter, this.shares, this.#book);
  }

  /** @param nowMs the node's monotonic clock, milliseconds; never goes back */
  step(event: CoordinatorEvent, nowMs: number): Effects {
    clearEffects(this.#effects);
    switch (event.kind) {
      case 'records-read':
        this.#read(event.records, nowMs);
        break;
      case 'round-elapsed':
        this.#round(nowMs);
        break;
      case 'lane-served':
        this.#serve(event.lane, nowMs);
        break;
      case 'caught-up':
        this.#join(nowMs);
        break;
      case 'append-failed':
        this.#republish(event.keys);
        break;
      case 'stopping':
        this.#stop();
        break;
    }
    this.#updateDirtyLanes(nowMs);
    return this.#effects;
  }

  /** Whether requests may be decided: the own record has been read back, and the event loop has not slept since. */
  get isReady(): boolean {
    return this.phase === 'ready';
  }

  #join(nowMs: number): void {
    invariant(this.phase === 'catching-up', 'caught-up comes once', { phase: this.phase });
    const known = this.membership.get(this.nodeKey);
    const count = known === undefined ? 1 : incarnationCount(known.incarnation) + 1;
    this.incarnation = incarnationOf(count, this.settings.nonce);
    this.phase = 'joining';
    this.#lastRoundMs = nowMs;
    this.link.expectEchoSince(nowMs);
    this.#beat(nowMs, true);
  }

  #read(records: readonly ReadEvent[], nowMs: number): void {
    let membersChanged = false;
    for (const read of records) {
      if (this.log.apply(read, nowMs)) membersChanged = true;
      if (read.record === null) this.#book.withKey(read.key) && this.#republish([read.key]);
      else if (read.record.author.nodeKey === this.nodeKey) this.#readOwn(read, read.record, nowMs);
    }
    if (membersChanged) this.#markAll();
    this.#becomeReady(nowMs);
  }

  #readOwn(read: ReadEvent, record: TopicRecord, nowMs: number): void {
    if (this.phase === 'catching-up' || this.phase === 'fenced') return;
    const { incarnation, sequence } = record.author;
    if (incarnation > this.incarnation) {
      this.phase = 'fenced';
      this.#withdrawShares();
      this.#effects.notices.push({
        kind: 'fenced',
        ownIncarnation: incarnationCount(this.incarnation),
        newerIncarnation: incarnationCount(incarnation),
      });
    } else if (incarnation === this.incarnation) {
      const tookMs = this.link.readBack(read.partition, sequence, nowMs);
      if (tookMs >= 0 && record.kind === 'report') this.reportRoundTripMs = tookMs;
    }
  }

  #becomeReady(nowMs: number): void {
    if (this.phase !== 'joining' && this.phase !== 'stalled') return;
    if (!this.link.hasExpectedEcho()) return;
    if (this.phase === 'stalled') {
      this.#resume(nowMs);
      return;
    }
    this.#readyMs = nowMs;
    const members = this.membership.alive.length;
    this.#effects.notices.push({ kind: 'ready', members, incarnation: incarnationCount(this.incarnation) });
    this.#startDeciding(nowMs);
  }

  #round(nowMs: number): void {
    if (this.phase === 'catching-up' || this.phase === 'fenced' || this.phase === 'stopping') return;
    const gapMs = nowMs - this.#lastRoundMs;
    this.#lastRoundMs = nowMs;
    if (gapMs > this.settings.shareValidMs && this.phase === 'ready') this.#stall(gapMs, nowMs);
    if (this.phase === 'stalled') this.#endStallWithoutEcho(nowMs);
    if (this.phase === 'ready' && this.link.watch(nowMs)) {
      this.#book.markAllDirty();
      this.#markAll();
    }
    if (this.phase === 'ready') this.#reporter.sampleAll(this.lanes.values(), nowMs);
    this.#beat(nowMs, false);
    if (this.phase === 'ready') this.#publishDue(nowMs);
    if (nowMs - this.#lastHousekeepingMs >= HOUSEKEEPING_MS) this.#keepHouse(nowMs);
  }

  /** The event loop slept: others may have taken over. Nothing is admitted until the log has been read to a fresh own record. */
  #stall(gapMs: number, nowMs: number): void {
    this.phase = 'stalled';
    this.link.expectEchoSince(nowMs);
    this.#effects.notices.push({ kind: 'stalled', gapMs });
    this.#beat(nowMs, true);
  }

  /** The topic is away as well: what the node held before it slept is bounded by the isolation policy, like any lost link. */
  #endStallWithoutEcho(nowMs: number): void {
    if (nowMs - this.link.expectedSinceMs > this.settings.isolationAfterMs) this.#resume(nowMs);
  }

  #resume(nowMs: number): void {
    this.#effects.notices.push({ kind: 'resumed', afterMs: nowMs - this.link.expectedSinceMs });
    for (const lane of this.lanes.keys()) this.#effects.emptiedLanes.push(lane);
    this.#startDeciding(nowMs);
  }

  #startDeciding(nowMs: number): void {
    this.phase = 'ready';
    this.#book.markAllDirty();
    this.#markAll();
    this.#confirm(nowMs);
  }

  #keepHouse(nowMs: number): void {
    this.#lastHousekeepingMs = nowMs;
    if (this.phase === 'ready') this.#confirm(nowMs);
    for (const lane of this.lanes.values()) {
      if (this.#reporter.isIdle(lane, nowMs)) this.#unserve(lane);
      else if (this.link.worse(lane, nowMs) !== lane.link) this.#dirtyLanes.add(lane);
    }
    if (this.link.of(MEMBERSHIP_PARTITION) !== 'linked') return;
    for (const key of tombstonesOfForgotten(this)) {
      this.#effects.appends.push({ partition: key.partition, key: key.key, record: null });
    }
  }

  #confirm(nowMs: number): void {
    this.#effects.confirmUntilMs = nowMs + this.settings.shareValidMs;
  }

  #withdrawShares(): void {
    this.#effects.confirmUntilMs = Number.NEGATIVE_INFINITY;
  }

  #beat(nowMs: number, all: boolean): void {
    const suspected = this.membership.alive.some(
      (member) => member.nodeKey !== this.nodeKey && nowMs - member.lastSignMs > this.settings.stalenessMs,
    );
    for (let partition = 0; partition < this.settings.partitions; partition++) {
      if (!all && !this.#heartbeat.isDue(partition, suspected, nowMs)) continue;
      this.#heartbeat.sent(partition, nowMs);
      const { nodeId } = this.settings;
      this.#append(partition, nodeRecordKey(this.nodeKey), nowMs, (author) => {
        return { kind: 'node', author, nodeId, version: this.settings.version };
      });
    }
  }

  #publishDue(nowMs: number): void {
    for (const bucket of this.#book.buckets) {
      const forced = nowMs >= bucket.forcedAtMs;
      if (!bucket.dirty && !forced) continue;
      if (nowMs - bucket.publishedMs < this.settings.reportGapMs) continue;
      // A topic that is away gets heartbeats only; the buckets stay dirty and go out when it is back.
      if (this.link.of(bucket.partition) !== 'linked') continue;
      this.#publish(bucket, nowMs);
    }
  }

  #publish(bucket: Bucket, nowMs: number): void {
    const rows = this.#reporter.rowsOf(bucket, this.lanes);
    const wasEmpty = bucket.publishedMs === Number.NEGATIVE_INFINITY;
    this.#book.published(bucket, nowMs);
    if (rows.length === 0 && wasEmpty) return;
    this.#append(bucket.partition, bucket.key, nowMs, (author) => ({ kind: 'report', author, rows }));
  }

  #append(partition: number, key: string, nowMs: number, make: (author: TopicRecord['author']) => TopicRecord): void {
    const sequence = ++this.#sequence;
    this.link.sent(partition, sequence, nowMs);
    const record = make({ nodeKey: this.nodeKey, incarnation: this.incarnation, sequence });
    this.#effects.appends.push({ partition, key, record });
  }

  #republish(keys: readonly string[]): void {
    for (const key of keys) {
      const bucket = this.#book.withKey(key);
      if (bucket !== undefined) bucket.dirty = true;
    }
  }

  #stop(): void {
    if (this.phase === 'stopping' || this.phase === 'fenced') return;
    const hadJoined = this.phase !== 'catching-up';
    this.phase = 'stopping';
    this.#withdrawShares();
    if (!hadJoined) return;
    const { nodeId } = this.settings;
    const author = { nodeKey: this.nodeKey, incarnation: this.incarnation, sequence: ++this.#sequence };
    const key = nodeRecordKey(this.nodeKey);
    this.#effects.appends.push({ partition: MEMBERSHIP_PARTITION, key, record: { kind: 'farewell', author, nodeId } });
    for (const bucket of this.#book.buckets) {
      this.#effects.appends.push({ partition: bucket.partition, key: bucket.key, record: null });
    }
  }

  #serve(lane: number, nowMs: number): void {
    if (this.lanes.has(lane) || this.phase !== 'ready') return;
    const group = Math.floor(lane / DIRECTION_COUNT);
    const direction = lane % DIRECTION_COUNT;
    const settings = this.settings.groups[group] as GroupSettings;
    const groupId = groupIdOf(this.settings.cluster, settings.name);
    const mapLane = this.usageMap.mapLaneOf(groupId, direction);
    const partition = partitionOf(groupId, this.settings.partitions);
    const state = createLaneState(
      { lane, group, settings, direction, groupId, partition, mapLane },
      this.settings,
      nowMs,
    );
    state.sample.begin(this.#limiter, lane, nowMs);
    state.refusals = this.#limiter.refusals[lane] as number;
    this.lanes.set(lane, state);
    this.#laneByMapLane.set(mapLane, state);
    this.#dirtyLanes.add(state);
    this.#effects.confirmUntilMs = nowMs + this.settings.shareValidMs;
  }

  /** Since when an unused bucket has been filling. */
  get readyMs(): number {
    return this.#readyMs;
  }

  #unserve(lane: LaneState): void {
    this.lanes.delete(lane.lane);
    this.#effects.unservedLanes.push(lane.lane);
    this.#laneByMapLane.delete(lane.mapLane);
    const sibling = laneOf(lane.group, 1 - lane.direction);
    if (!this.lanes.has(sibling)) this.#book.release(lane.group);
  }

  #markMapLane(mapLane: number): void {
    const lane = this.#laneByMapLane.get(mapLane);
    if (lane !== undefined) this.#dirtyLanes.add(lane);
  }

  #markAll(): void {
    for (const lane of this.lanes.values()) this.#dirtyLanes.add(lane);
  }

  #updateDirtyLanes(nowMs: number): void {
    if (this.#dirtyLanes.size === 0) return;
    if (this.phase === 'ready') {
      const own = this.membership.get(this.nodeKey)?.position ?? -1;
      for (const lane of this.#dirtyLanes) {
        lane.link = this.link.worse(lane, nowMs);
        if (!this.shares.update(lane, own)) continue;
        this.#effects.changedLanes.push(lane.lane);
        if (lane.hasEntry) beginLastLook(lane.settling, nowMs);
      }
    }
    this.#dirtyLanes.clear();
  }
}
