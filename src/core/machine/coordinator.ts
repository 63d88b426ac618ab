import { LANES_PER_ROUND, ROWS_AT_ONCE_MAX } from '../account/constants.js';
import { RemoteGroups } from '../account/keys/remote-groups.js';
import type { PublishedKeys } from '../account/keys/silent-use.js';
import type { LaneState } from '../account/lanes/lane-state.js';
import { LaneTable } from '../account/lanes/lane-table.js';
import { LinkWatch } from '../account/lanes/link-watch.js';
import { isOutdated } from '../account/share/lane-checkpoints.js';
import { ShareBook } from '../account/share/share-book.js';
import { TokenBook } from '../account/share/token-book.js';
import { incarnationCount, nodeKeyOf } from '../base/ids.js';
import { invariant } from '../base/invariant.js';
import {
  type CoordinatorEvent,
  clearEffects,
  createEffects,
  type Effects,
  type EpochBegan,
  type Fenced,
  type Phase,
  type ReadEvent,
  type UnpublishedUse,
} from '../base/protocol/events-and-effects.js';
import { partitionOf, type TopicRecord } from '../base/protocol/record.js';
import type { CoordinatorSettings } from '../base/settings.js';
import {
  DIRECTION_COUNT,
  type GroupId,
  type Incarnation,
  lanesOf,
  MEMBERSHIP_PARTITION,
  type NodeKey,
} from '../base/vocabulary.js';
import type { Limiter } from '../limiter/limiter.js';
import { LogReader } from '../log/reading/log-reader.js';
import { Forgetting } from '../report/forget.js';
import { HiddenCeilings } from '../report/hidden-ceilings.js';
import { Publisher } from '../report/publisher.js';
import { ReportBook } from '../report/report-book.js';
import type { ReportBudget } from '../report/report-budget.js';
import type { ReportCounts } from '../report/report-reason.js';
import { Reporter } from '../report/reporter.js';
import { SaidGone } from '../report/said-gone.js';
import { endSettling, shareMoved } from '../report/sample/settling.js';
import { CostMeter } from '../target/cost-meter.js';
import { type SharedLane, TargetBook } from '../target/target-book.js';
import type { AliveMembers } from '../usage-map/alive-members.js';
import { Membership } from '../usage-map/membership.js';
import { UsageMap } from '../usage-map/usage-map.js';
import { EpochChange } from './epoch-change.js';

/** Milliseconds between confirmations of shares, and between looks for idle lanes; a fraction of `shareValidMs`. */
const HOUSEKEEPING_MS = 250;
/**
 * Most alive nodes for which lanes are marked between two rounds. More: shares follow joins earlier, made-up ids cost
 * more.
 */
const LOOKS_PER_ROUND = 20_000;

/**
 * Turns an event and a time into effects. The machine owns all state of the core except the limiter's columns, which it
 * only reads. The same events at the same times have the same effects. Each step reuses the buffer of effects.
 */
export class Coordinator {
  readonly nodeKey: NodeKey;
  readonly settings: CoordinatorSettings;
  readonly membership: Membership;
  readonly usageMap: UsageMap;
  /** Costs reported at this node; the traffic side counts them here directly. */
  readonly costs: CostMeter;
  readonly targets: TargetBook;
  readonly shares: ShareBook;
  readonly log: LogReader;
  readonly tokens: TokenBook;
  readonly link: LinkWatch;
  readonly hiddenCeilings: HiddenCeilings;
  /** Null until groups may be made by use (core/account/keys). */
  remoteGroups: RemoteGroups | null = null;
  phase: Phase = 'catching-up';
  /** The reason for which this node has stopped for good; null unless the phase is `fenced`. */
  endedBy: Fenced | null = null;
  /** Milliseconds from appending the last own report to reading it back. */
  reportRoundTripMs = 0;
  /** Time from which the node decides, after start or stall. Unused buckets of the limiter fill from then on. */
  readyMs = 0;
  readonly #limiter: Limiter;
  readonly #effects: Effects = createEffects();
  readonly #table: LaneTable;
  readonly #book: ReportBook;
  readonly #reporter: Reporter;
  readonly #publisher: Publisher;
  readonly #epochs: EpochChange;
  readonly #forgetting: Forgetting;
  readonly #saidGone: SaidGone;
  readonly #flow = (lane: LaneState, nowMs: number) => {
    const wasLimitedByTokens = lane.isLimitedByTokens;
    const { tokens } = lane;
    if (tokens !== null) {
      const { life } = lane.entry;
      tokens.isHeldBack = (life === 'due' || life === 'ending') && this.#book.isHeldBack(lane.group);
    }
    this.tokens.flow(lane, nowMs);
    if (wasLimitedByTokens || lane.isLimitedByTokens) this.#effects.changedLanes.push(lane.lane);
  };
  /** By partition: true from a change of members until the served lanes are marked for it. */
  readonly #areMembersNew: boolean[];
  /** Alive nodes of the partitions marked since the last round. */
  #looks = 0;
  #lastRoundMs = 0;
  #lastHousekeepingMs = -Infinity;
  /** True = stocks of a former log may wait to be written. */
  #hasKept = false;

  constructor(configured: CoordinatorSettings, limiter: Limiter) {
    const laneCount = configured.groups.length * DIRECTION_COUNT;
    invariant(limiter.laneCount >= laneCount, 'the limiter must have a row per lane', { laneCount });
    this.#table = new LaneTable(configured);
    const { settings } = this.#table;
    const { notices, appends } = this.#effects;
    this.settings = settings;
    this.#limiter = limiter;
    this.nodeKey = nodeKeyOf(settings.cluster, settings.nodeId);
    this.membership = new Membership(settings.stalenessMs, settings.partitions, settings.maxNodes);
    const markLane = (mapLane: number) => this.#markLane(mapLane);
    this.usageMap = new UsageMap(markLane, settings, (mapLane) => this.#isLaneHeld(mapLane));
    this.costs = new CostMeter(settings.costs);
    const groupOf = (groupId: GroupId) => this.#table.groupOf(groupId);
    this.targets = new TargetBook(settings, this.usageMap, this.membership, markLane, groupOf);
    const { backends, ramps } = this.targets;
    this.log = new LogReader(settings, this.membership, this.usageMap, { backends, ramps, notices });
    this.link = new LinkWatch(settings, notices);
    this.shares = new ShareBook(settings, laneCount, this.log, this.targets);
    this.#book = new ReportBook(this.nodeKey, settings, (partition, number) => this.#isTaken(partition, number));
    this.#forgetting = new Forgetting(this, this.#book);
    this.#saidGone = new SaidGone(this);
    this.#areMembersNew = Array.from({ length: settings.partitions }, () => false);
    const { nodeKey, membership, usageMap, log, link, shares, targets, costs } = this;
    const table = this.#table;
    const book = this.#book;
    const known = { nodeKey, membership, usageMap, log, shares, targets, costs };
    this.tokens = new TokenBook({ ...known, life: this, limiter, table, link });
    usageMap.charges = this.tokens;
    const reporter = new Reporter(settings, { limiter, shares, book, costs, tokens: this.tokens });
    this.#reporter = reporter;
    const { epochs } = log;
    this.hiddenCeilings = new HiddenCeilings({ settings, nodeKey, ramps, membership, usageMap });
    const read = { membership, usageMap, ramps, hiddenCeilings: this.hiddenCeilings };
    const parts = { nodeKey, ...read, log, shares, link, epochs, appends, book, reporter, tokens: this.tokens, table };
    const publisher = new Publisher(settings, parts);
    this.#publisher = publisher;
    log.writer = publisher;
    this.#epochs = new EpochChange({ nodeKey, log, link, table, publisher, notices });
  }

  /** @param nowMs the node's monotonic clock, milliseconds; never goes back */
  step(event: CoordinatorEvent, nowMs: number): Effects {
    clearEffects(this.#effects);
    this.#noticeStall(nowMs);
    this.#apply(event, nowMs);
    this.#updateDirtyLanes(nowMs);
    return this.#effects;
  }

  #apply(event: CoordinatorEvent, nowMs: number): void {
    switch (event.kind) {
      case 'epoch-began':
        this.#beginEpoch(event, nowMs);
        break;
      case 'records-read':
        this.#read(event.records, nowMs);
        break;
      case 'round-elapsed':
        this.#round(nowMs);
        break;
      case 'lane-served':
        this.#serve(event.lane, nowMs);
        break;
      case 'unpublished-charged':
        this.#chargeUnpublished(this.lanes.get(event.lane), nowMs);
        break;
      case 'caught-up':
        this.#join(nowMs);
        break;
      case 'group-changed':
        this.#changeGroup(event, nowMs);
        break;
      case 'group-removed':
        for (const lane of this.#table.lanesOf(event.group)) this.#remove(lane);
        break;
      case 'backend-reported':
        if (this.isReady) this.#publisher.publishBackend(event, nowMs);
        break;
      case 'append-failed':
        this.#publisher.appendFailed(event);
        break;
      case 'stopping':
        this.#stop(event.unpublished ?? [], nowMs);
        break;
    }
  }

  /** True while this node may decide about requests. */
  get isReady(): boolean {
    return this.phase === 'ready';
  }

  get lanes(): ReadonlyMap<number, LaneState> {
    return this.#table.lanes;
  }

  get incarnation(): Incarnation {
    return this.#publisher.incarnation;
  }

  get reportBudget(): ReportBudget {
    return this.#publisher.budget;
  }

  get reportsWritten(): Readonly<ReportCounts> {
    return this.#publisher.written;
  }

  groupIdOf(group: number): GroupId {
    return this.#table.groupIdOf(group);
  }

  /** Finds a lane of any group, and gives it no number. */
  laneOf(groupId: GroupId, direction: number): SharedLane {
    const partition = partitionOf(groupId, this.settings.partitions);
    return { direction, mapLane: this.usageMap.findMapLane(groupId, direction), partition };
  }

  /** Returns the members that share a group: those alive on the group's partition. */
  aliveFor(groupId: GroupId): AliveMembers {
    return this.membership.on(partitionOf(groupId, this.settings.partitions));
  }

  /** Tests if a group is used nowhere, so its number is free. */
  isForgotten(group: number): boolean {
    return lanesOf(group).every((lane, direction) => {
      if (this.lanes.has(lane)) return false;
      const mapLane = this.usageMap.findMapLane(this.#table.groupIdOf(group), direction);
      return mapLane === -1 || !this.usageMap.isInUse(mapLane);
    });
  }

  /** Allows groups that are made by use from now on; heartbeats publish their names. */
  makeGroupsByUse(keys: PublishedKeys): void {
    this.#publisher.keys = keys;
    this.remoteGroups = new RemoteGroups(this.settings.hashSeed);
    for (let mapLane = 0; mapLane < this.usageMap.laneCount; mapLane++) this.#noteRemoteGroup(mapLane);
  }

  /** Tests if newcomers still need a past life's record under this key. */
  #isTaken(partition: number, number: number): boolean {
    const { membership, usageMap, log } = this;
    const own = membership.get(this.nodeKey);
    const record = own === undefined ? -1 : usageMap.recordOf(own, partition, number);
    if (record === -1 || usageMap.rows.records.incarnation[record] === this.incarnation) return false;
    return !isOutdated({ usageMap, membership }, record, log.logTimes[partition]);
  }

  #noteRemoteGroup(mapLane: number): void {
    const { groupId, direction } = this.usageMap.groupOf(mapLane);
    this.remoteGroups?.note(groupId, direction, this.usageMap.firstRow(mapLane) !== -1);
  }

  #markLane(mapLane: number): void {
    this.#table.markMapLane(mapLane);
    if (this.remoteGroups !== null) this.#noteRemoteGroup(mapLane);
    this.tokens.rowsChanged(mapLane);
  }

  #isLaneHeld(mapLane: number): boolean {
    return (
      this.#table.servesMapLane(mapLane) ||
      this.targets.ramps.some((ramps) => ramps.has(mapLane)) ||
      this.tokens.has(mapLane)
    );
  }

  #beginEpoch(epoch: EpochBegan, nowMs: number): void {
    this.tokens.beginEpoch(nowMs);
    this.#hasKept = true;
    this.#epochs.begin(epoch, this.phase, nowMs);
    // Ramps begin anew with the log.
    this.log.logTimes.forEach((_, partition) => {
      this.tokens.rampTimePassed(partition);
    });
    this.tokens.recordApplied();
  }

  #changeGroup(
    { group, settings, isKey = false }: Extract<CoordinatorEvent, { kind: 'group-changed' }>,
    nowMs: number,
  ): void {
    const before = this.settings.groups[group];
    const isNew = before?.name !== settings.name;
    if (!isNew && !isKey) this.tokens.groupChanges(group, settings);
    const windowed = this.#table.changeGroup(group, settings);
    for (const lane of windowed) {
      lane.sample.begin(this.#limiter, lane.lane, nowMs);
      endSettling(lane.settling);
    }
    this.shares.addLanes(this.settings.groups.length * DIRECTION_COUNT);
    if (isNew) this.tokens.groupAdded(group);
    else this.tokens.groupChanged(group, nowMs);
  }

  #join(nowMs: number): void {
    if (this.phase !== 'catching-up') this.#epochs.caughtUp(nowMs);
    if (this.phase !== 'catching-up' || !this.log.partitionCount.caughtUp(nowMs)) return;
    this.log.isCaughtUp = true;
    const newest = this.log.newestLifeOf(this.nodeKey);
    if (!this.#publisher.beginLife(newest)) {
      this.#fence(newest);
      return;
    }
    this.phase = 'joining';
    this.#lastRoundMs = nowMs;
    this.link.expectedSinceMs = nowMs;
    this.#publisher.beat(nowMs, true);
  }

  #read(records: readonly ReadEvent[], nowMs: number): void {
    for (const read of records) {
      if (read.record?.kind === 'group-state') this.tokens.rampMoves(read.record);
      const changed = this.log.apply(read, nowMs);
      if (changed) this.#areMembersNew[read.partition] = true;
      this.tokens.rampTimePassed(read.partition);
      this.tokens.readMembers(changed, read);
      this.tokens.recordApplied();
      if (read.record === null) this.#publisher.sayAgain(read);
      else if (read.record.author.nodeKey === this.nodeKey) this.#readOwn(read, read.record, nowMs);
    }
    this.#markForMembers();
    this.#table.markMoving();
    this.#epochs.settle(nowMs);
    const why = this.log.partitionCount.reasonToStop(this.phase, this.#epochs.hasLeftALog);
    if (why !== null) this.#end(why);
    const awaitsEcho = this.phase === 'joining' || this.phase === 'stalled';
    if (awaitsEcho && this.link.hasExpectedEcho()) this.#startDeciding(nowMs);
  }

  /** Marks the lanes of partitions whose members changed, until LOOKS_PER_ROUND is reached. */
  #markForMembers(): void {
    this.#areMembersNew.forEach((areNew, partition) => {
      if (!areNew || this.#looks >= LOOKS_PER_ROUND) return;
      const { count } = this.membership.on(partition);
      this.#areMembersNew[partition] = false;
      this.#looks += count;
      this.#table.markForMembers(partition, count);
    });
  }

  #readOwn(read: ReadEvent, record: TopicRecord, nowMs: number): void {
    if (this.phase === 'catching-up' || this.phase === 'stopping' || this.phase === 'fenced') return;
    // A node that was refused for lack of room is no member, and must not become ready.
    if (read.partition === MEMBERSHIP_PARTITION && !this.membership.isAccepted(this.nodeKey)) return;
    const { incarnation, sequence } = record.author;
    if (incarnation > this.incarnation) {
      if (this.#epochs.isSupersededBy(record)) this.#fence(incarnation);
      else this.#epochs.outlive(record, nowMs);
    } else if (incarnation === this.incarnation) {
      if (this.shares.ownClaims[read.partition]!.readBack(sequence)) this.#table.markAll();
      if (record.kind === 'report' && this.#publisher.isOfThisLog(sequence)) this.tokens.readBack(record.rows);
      const tookMs = this.link.echo.readBack(read.partition, sequence, nowMs);
      if (tookMs >= 0 && record.kind === 'report') this.reportRoundTripMs = tookMs;
      if (tookMs >= 0) this.log.tookRoundTrip(tookMs);
    }
  }

  #fence(newer: Incarnation): void {
    const [ownIncarnation, newerIncarnation] = [this.incarnation, newer].map(incarnationCount) as [number, number];
    this.#end({ kind: 'fenced', ownIncarnation, newerIncarnation });
  }

  #end(why: Fenced): void {
    this.phase = 'fenced';
    this.endedBy = why;
    this.#effects.confirmUntilMs = -Infinity;
    this.#effects.notices.push(why);
  }

  /** Begins to decide after joining or after a stall. */
  #startDeciding(nowMs: number): void {
    this.readyMs = nowMs;
    if (this.phase === 'joining') {
      this.tokens.begin();
      this.log.partitionCount.decides(nowMs);
      const members = this.membership.alive.length;
      this.#effects.notices.push({ kind: 'ready', members, incarnation: incarnationCount(this.incarnation) });
    } else {
      this.#effects.notices.push({ kind: 'resumed', afterMs: nowMs - this.link.expectedSinceMs });
      this.#effects.emptiedLanes.push(...this.lanes.keys());
    }
    this.phase = 'ready';
    this.#book.markAllDirty();
    this.#table.markAll();
    this.#effects.confirmUntilMs = nowMs + this.settings.shareValidMs;
  }

  #round(nowMs: number): void {
    if (this.phase === 'catching-up' && this.log.partitionCount.hasWaited(nowMs)) this.#join(nowMs);
    if (this.phase === 'catching-up' || this.phase === 'fenced' || this.phase === 'stopping') return;
    this.#lastRoundMs = nowMs;
    this.#looks = 0;
    this.#markForMembers();
    this.#epochs.settle(nowMs);
    // The isolation policy bounds the shares held before the sleep.
    const isAway = nowMs - this.link.expectedSinceMs > this.settings.isolationAfterMs;
    if (this.phase === 'stalled' && isAway) this.#startDeciding(nowMs);
    if (this.phase === 'ready') this.#work(nowMs);
    this.#publisher.beat(nowMs, false);
    if (nowMs - this.#lastHousekeepingMs >= HOUSEKEEPING_MS) this.#keepHouse(nowMs);
  }

  #work(nowMs: number): void {
    if (this.link.watch(nowMs)) {
      this.#book.markAllDirty();
      this.#table.markAll();
    }
    if (this.#hasKept) this.#writeKept(nowMs);
    this.#reporter.sampleAll(nowMs, this.#flow);
    this.#publisher.publishDue(this.lanes, nowMs);
  }

  /** Writes stocks whose rows were in a former log alone: who starts in this one would take the buckets for full. */
  #writeKept(nowMs: number): void {
    const kept = this.tokens.keptLanes(LANES_PER_ROUND);
    this.#hasKept = kept.length === LANES_PER_ROUND;
    for (const lane of kept) {
      this.#serve(lane, nowMs);
      this.#reporter.remember(this.lanes.get(lane)!, nowMs);
    }
  }

  /**
   * Stops deciding after a long gap between rounds. Others may have this node's shares by then, so it waits for a fresh
   * own record. Every step looks for the gap, because requests and reads may run before the round's timer.
   */
  #noticeStall(nowMs: number): void {
    const gapMs = nowMs - this.#lastRoundMs;
    if (this.phase !== 'ready' || gapMs <= this.settings.shareValidMs) return;
    this.phase = 'stalled';
    this.#lastRoundMs = nowMs;
    this.#effects.confirmUntilMs = -Infinity;
    this.link.expectedSinceMs = nowMs;
    this.log.epochs.letGo();
    this.#effects.notices.push({ kind: 'stalled', gapMs });
    this.#publisher.beat(nowMs, true);
  }

  #keepHouse(nowMs: number): void {
    this.#lastHousekeepingMs = nowMs;
    if (this.phase === 'ready') this.#effects.confirmUntilMs = nowMs + this.settings.shareValidMs;
    this.costs.removeSilent(nowMs);
    for (const lane of this.#reporter.looks.idle(nowMs)) this.#unserve(lane);
    this.tokens.forgetUnserved();
    if (!this.link.isWhole) this.#table.markRelinked(this.link, nowMs);
    if (this.link.of(MEMBERSHIP_PARTITION) !== 'linked') return;
    this.#effects.appends.push(...this.#saidGone.due(nowMs), ...this.#forgetting.due(nowMs));
  }

  #chargeUnpublished(lane: LaneState | undefined, nowMs: number): void {
    if (lane === undefined) return;
    lane.sample.begin(this.#limiter, lane.lane, nowMs);
    this.tokens.unpublishedCharged(lane);
    this.#flow(lane, nowMs);
  }

  #stop(unpublished: readonly UnpublishedUse[], nowMs: number): void {
    if (this.phase === 'stopping' || this.phase === 'fenced') return;
    // Else a bucket of a log that was lost would be gone with the last node that remembers it.
    for (const lane of this.tokens.keptLanes(ROWS_AT_ONCE_MAX)) this.#serve(lane, nowMs);
    for (const lane of this.lanes.values()) this.#flow(lane, nowMs);
    if (this.phase !== 'catching-up') this.#publisher.sayFarewell(this.lanes, unpublished, nowMs);
    this.phase = 'stopping';
    this.#effects.confirmUntilMs = -Infinity;
  }

  #serve(lane: number, nowMs: number): void {
    if (this.lanes.has(lane) || this.phase !== 'ready') return;
    const state = this.#table.serve(lane, this.usageMap, nowMs);
    this.#reporter.looks.add(state);
    this.tokens.serve(state, nowMs);
    state.sample.begin(this.#limiter, lane, nowMs);
    state.refusals = this.#limiter.refusals.at(lane);
    this.#effects.servedLanes.push(lane);
  }

  #remove(lane: LaneState): void {
    if (lane.entry.isOpen) {
      this.#book.changed(lane.group, lane.groupId, 'over');
      lane.entry.life = 'ending';
    }
    this.#unserve(lane);
  }

  #unserve(lane: LaneState): void {
    this.#reporter.looks.remove(lane);
    if (this.#table.end(lane)) this.#book.release(lane.group);
    this.tokens.unserve(lane);
    this.shares.release(lane.lane);
    this.#effects.unservedLanes.push(lane.lane);
  }

  #updateDirtyLanes(nowMs: number): void {
    if (this.phase === 'ready') {
      this.#table.markWaiting();
      for (const lane of this.#table.dirty) this.#updateShare(lane, nowMs);
      for (const lane of this.#table.dirty) this.#flow(lane, nowMs);
    }
    this.#table.endUpdate();
  }

  /** Computes a lane's share anew. Adds a moved lane to the effects. */
  #updateShare(lane: LaneState, nowMs: number): void {
    // −1 = the partition counts this node as dead.
    const own = this.membership.indexOf(this.nodeKey, lane.partition);
    lane.link = this.link.worse(lane, nowMs);
    if (!this.shares.update(lane, own, nowMs)) return;
    this.#effects.decidedLanes.push(lane.lane);
    this.#effects.changedLanes.push(lane.lane);
    if (lane.entry.isOpen) shareMoved(lane.settling, nowMs);
  }
}
