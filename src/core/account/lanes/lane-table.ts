import { groupIdOf } from '../../base/ids.js';
import { invariant } from '../../base/invariant.js';
import { partitionOf } from '../../base/protocol/record.js';
import { type CoordinatorSettings, type GroupSettings, windowMsOf } from '../../base/settings.js';
import { DIRECTION_COUNT, type GroupId, laneOf, lanesOf } from '../../base/vocabulary.js';
import { STRATEGIES } from '../../convergence/strategies.js';
import { rampTop } from '../../target/ramp/ramp-of.js';
import type { UsageMap } from '../../usage-map/usage-map.js';
import { LANES_PER_ROUND } from '../constants.js';
import { createLaneState, createSample, type LaneState } from './lane-state.js';
import type { LinkWatch } from './link-watch.js';

/** Holds the lanes that this node serves, from first use until idle: of 100,000 groups perhaps 5,000. */
export class LaneTable {
  readonly lanes = new Map<number, LaneState>();
  /** Lanes whose shares are computed again before the step ends. */
  readonly dirty = new Set<LaneState>();
  /** Lanes whose shares wait to be computed for new members. */
  readonly #waiting = new Set<LaneState>();
  /** Lanes whose shares move with log time alone. */
  readonly #moving = new Set<LaneState>();
  /** Per partition: true if an own share moves with log time alone. */
  readonly #needsLogTime: boolean[];
  /** Configuration, with the groups of the last `group-changed`. */
  readonly settings: CoordinatorSettings;
  readonly #groups: GroupSettings[];
  /** True if a configured group divides by an agreed pool. */
  agreesOnPool: boolean;
  readonly #groupIds: GroupId[];
  readonly #byId: Map<GroupId, number>;
  readonly #byMapLane = new Map<number, LaneState>();
  /** The served lanes by their seats; null = nobody has it. */
  readonly seats: (LaneState | null)[] = [];
  readonly #freeSeats: number[] = [];
  /** The served lanes whose groups have a ramp. */
  readonly ramped = new Set<LaneState>();

  constructor(settings: CoordinatorSettings) {
    this.#groups = [...settings.groups];
    this.#needsLogTime = Array.from({ length: settings.partitions }, () => false);
    this.settings = { ...settings, groups: this.#groups };
    this.agreesOnPool = this.#groups.some(agreesOnPool);
    this.#groupIds = settings.groups.map(({ name }) => groupIdOf(settings.cluster, name));
    this.#byId = new Map(this.#groupIds.map((groupId, group) => [groupId, group]));
  }

  /** Returns the group with this id, or −1. */
  groupOf(groupId: GroupId): number {
    return this.#byId.get(groupId) ?? -1;
  }

  groupIdOf(group: number): GroupId {
    return this.#groupIds[group];
  }

  serve(lane: number, usageMap: UsageMap, nowMs: number): LaneState {
    const group = Math.floor(lane / DIRECTION_COUNT);
    const direction = lane % DIRECTION_COUNT;
    const groupId = this.groupIdOf(group);
    const mapLane = usageMap.mapLaneOf(groupId, direction);
    const partition = partitionOf(groupId, this.settings.partitions);
    const settings = this.#groups[group];
    const seat = this.#freeSeats.pop() ?? this.seats.length;
    const identity = { lane, group, settings, direction, groupId, partition, mapLane, seat };
    const state = createLaneState(identity, this.settings, nowMs);
    this.lanes.set(lane, state);
    this.seats[seat] = state;
    this.#noteRamp(state);
    this.#byMapLane.set(mapLane, state);
    this.dirty.add(state);
    return state;
  }

  /** Ends a lane. Returns true if its group has no served lane any more. */
  end(lane: LaneState): boolean {
    this.lanes.delete(lane.lane);
    this.seats[lane.seat] = null;
    this.#freeSeats.push(lane.seat);
    this.ramped.delete(lane);
    this.#byMapLane.delete(lane.mapLane);
    this.dirty.delete(lane);
    this.#waiting.delete(lane);
    // The next update finds the others that wait there.
    if (this.#moving.delete(lane)) this.#needsLogTime[lane.partition] = false;
    return !this.lanes.has(laneOf(lane.group, 1 - lane.direction));
  }

  servesMapLane(mapLane: number): boolean {
    return this.#byMapLane.has(mapLane);
  }

  /** Marks the usage map's lane as dirty where it is served here. */
  markMapLane(mapLane: number): void {
    const lane = this.#byMapLane.get(mapLane);
    if (lane !== undefined) this.dirty.add(lane);
  }

  /** Lists the served lanes of a group. */
  lanesOf(group: number): LaneState[] {
    return lanesOf(group).flatMap((lane) => this.lanes.get(lane) ?? []);
  }

  /**
   * Changes a group, or adds one at the number after the last. A number without served lanes may get another name.
   * Served lanes follow the new settings from this step on. Returns the lanes with windows of another length: their
   * samples have to begin anew.
   */
  changeGroup(group: number, settings: GroupSettings): LaneState[] {
    const isNew = group === this.#groups.length;
    const { name } = settings;
    if (this.#groups[group]?.name !== name) {
      invariant(isNew || this.lanesOf(group).length === 0, 'a group in use keeps its name', { group, name });
      if (!isNew) this.#byId.delete(this.groupIdOf(group));
      this.#groupIds[group] = groupIdOf(this.settings.cluster, name);
      this.#byId.set(this.groupIdOf(group), group);
    }
    this.#groups[group] = settings;
    this.agreesOnPool ||= agreesOnPool(settings);
    const windowed: LaneState[] = [];
    for (const lane of this.lanesOf(group)) {
      if (windowMsOf(settings) !== windowMsOf(lane.settings)) {
        lane.sample = createSample(settings, this.settings);
        windowed.push(lane);
      }
      lane.settings = settings;
      this.#noteRamp(lane);
      this.dirty.add(lane);
    }
    return windowed;
  }

  #noteRamp(lane: LaneState): void {
    if (rampTop(lane.settings, lane.direction) === null) this.ramped.delete(lane);
    else this.ramped.add(lane);
  }

  /** Marks the moving lanes, because log time went on. */
  markMoving(): void {
    for (const lane of this.#moving) this.dirty.add(lane);
  }

  /** Called when the shares of all dirty lanes have been computed. */
  endUpdate(): void {
    // Most steps have none, and emptying an empty set allocates a table.
    if (this.dirty.size === 0 && this.#moving.size === 0) return;
    for (const lane of this.dirty) {
      if (lane.isMoving) this.#moving.add(lane);
      else this.#moving.delete(lane);
    }
    this.dirty.clear();
    this.#needsLogTime.fill(false);
    for (const { partition, isOwnMoving } of this.#moving) if (isOwnMoving) this.#needsLogTime[partition] = true;
  }

  /** Tests if an own share waits for the partition's log time. */
  needsLogTime(partition: number): boolean {
    return this.#needsLogTime[partition];
  }

  /** Marks lanes whose limits were computed for another link. */
  markRelinked(link: LinkWatch, nowMs: number): void {
    for (const lane of this.lanes.values()) if (link.worse(lane, nowMs) !== lane.link) this.dirty.add(lane);
  }

  /**
   * Marks the lanes of a partition that other members share. Lanes with the same expected use as before have the same
   * limits, so they take turns: 20,000 in one turn would take 0.6 s.
   */
  markForMembers(partition: number, nodes: number): void {
    for (const lane of this.lanes.values()) {
      if (lane.partition !== partition) continue;
      if (lane.tokens?.isSameFor(nodes) === true) this.#waiting.add(lane);
      else this.dirty.add(lane);
    }
  }

  /** Marks the next waiting lanes. */
  markWaiting(): void {
    let left = LANES_PER_ROUND;
    for (const lane of this.#waiting) {
      if (left-- === 0) break;
      this.#waiting.delete(lane);
      this.dirty.add(lane);
    }
  }

  markAll(): void {
    for (const lane of this.lanes.values()) this.dirty.add(lane);
  }
}

function agreesOnPool({ strategy }: GroupSettings): boolean {
  return STRATEGIES[strategy]?.agreesOnPool === true;
}
