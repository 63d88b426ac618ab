import type { LaneState } from '../account/lanes/lane-state.js';
import type { ShareBook } from '../account/share/share-book.js';
import type { GroupStateRecord } from '../base/protocol/record.js';
import type { RampSettings } from '../base/settings.js';
import { MESSAGES, type NodeKey } from '../base/vocabulary.js';
import { ARRIVED_RATIO } from '../convergence/constants.js';
import { RENEWALS } from '../target/constants/constants.js';
import { RAMP_STEPS, slopeOf, usedPercent } from '../target/ramp/ramp.js';
import type { RampBook, RampCeiling } from '../target/ramp/ramp-book.js';
import { rampTop } from '../target/ramp/ramp-of.js';
import type { Membership } from '../usage-map/membership.js';
import type { UsageMap } from '../usage-map/usage-map.js';
import { MOVING_BEAT_MS, SOON_MS } from './constants/constants.js';

/** Numaflow's second: milliseconds in which a ceiling steps at most once. */
const STEP_MS = 1000;
/** Milliseconds after which a step not read back is written again: the next node has had its turn. */
const RETRY_MS = 2 * SOON_MS;
const SHORTEST_BEAT_MS = MOVING_BEAT_MS / 4;

type NextCeiling = Pick<GroupStateRecord, 'ceiling' | 'lateMs' | 'readUntilMs' | 'readUntilOffset'>;

/** Takes the ceilings that this node writes, of linked partitions. */
export interface RampSink {
  mayWrite(partition: number): boolean;
  write(word: RampWord): void;
}

export type RampWord = Omit<GroupStateRecord, 'kind' | 'author'>;

export interface RampWriterParts {
  readonly nodeKey: NodeKey;
  /** By partition. */
  readonly ramps: readonly RampBook[];
  readonly usageMap: UsageMap;
  readonly membership: Membership;
  readonly shares: ShareBook;
}

/**
 * Decides which node moves a ceiling on: the first (by NodeKey) with an entry in the lane, once per second of log time
 * in which the lane is used; the next ones if it does not. Two that write the same step write the same ceiling, so no
 * order of their records does harm. A record holds from its offset on, for all alike.
 */
export class RampWriter {
  /** Milliseconds between records of a partition with a climbing ceiling; Infinity = none. */
  readonly beatMs: Float64Array;
  readonly #parts: RampWriterParts;

  constructor(parts: RampWriterParts) {
    this.#parts = parts;
    this.beatMs = new Float64Array(parts.ramps.length).fill(Infinity);
  }

  /** Writes the due ceilings of this node. @param ramped the lanes served here whose groups have a ramp */
  writeDue(ramped: Iterable<LaneState>, nowMs: number, { mayWrite, write }: RampSink): void {
    this.beatMs.fill(Infinity);
    for (const lane of ramped) {
      if (!mayWrite(lane.partition)) continue;
      const ramp = lane.settings.ramp as RampSettings;
      const { partition, rampTurn } = lane;
      if (nowMs - lane.touchedMs <= STEP_MS) this.#step(lane, ramp, nowMs, write);
      // An unwritten step is void by the next use.
      else Object.assign(rampTurn, { isClimbing: false, dueMs: Number.NaN, backLogMs: Number.NaN });
      if (!rampTurn.isClimbing) continue;
      const beatMs = Math.max(SHORTEST_BEAT_MS, ramp.overMs * ARRIVED_RATIO);
      this.beatMs[partition] = Math.min(this.beatMs[partition], beatMs);
    }
  }

  #step(lane: LaneState, ramp: RampSettings, nowMs: number, write: (word: RampWord) => void): void {
    const known = this.#parts.ramps[lane.partition].get(lane.mapLane, ramp);
    const { rampTurn: turn, groupId, direction } = lane;
    if (Number.isNaN(turn.backLogMs)) turn.backLogMs = this.#parts.ramps[lane.partition].logMs;
    const next = known === undefined ? this.#firstOf(lane, ramp, nowMs) : this.#nextOf(lane, ramp, known);
    if (next === null) {
      turn.dueMs = Number.NaN;
      return;
    }
    if (Number.isNaN(turn.dueMs)) turn.dueMs = nowMs;
    const rank = this.#rankIn(lane);
    turn.isClimbing = rank === 0 && next.ceiling !== known?.ceiling;
    if (nowMs - turn.dueMs < rank * SOON_MS || nowMs - turn.wroteMs < RETRY_MS) return;
    turn.wroteMs = nowMs;
    write({ groupId, direction, ...next, timeToLiveMs: ramp.timeToLiveMs });
  }

  /**
   * Computes the first ceiling of a lane in this log. The ramp has begun with the first use, however late its record is
   * read. A ceiling of an earlier log goes on from its height.
   */
  #firstOf({ mapLane, partition, rampTurn: { dueMs } }: LaneState, ramp: RampSettings, nowMs: number): NextCeiling {
    const { fromPerSecond: ceiling, mode } = ramp;
    const ramps = this.#parts.ramps[partition];
    const carried = ramps.carriedOf(mapLane, ramp);
    if (carried !== undefined) {
      const lateMs = mode === 'scheduled' ? carried.heldMs : 0;
      return { ceiling: carried.ceiling, lateMs, ...ramps.readUntil, readUntilMs: 0 };
    }
    const lateMs = Number.isNaN(dueMs) ? 0 : Math.min(nowMs - dueMs, STEP_MS);
    return { ceiling, lateMs, ...ramps.readUntil, readUntilMs: 0 };
  }

  /** Computes the next ceiling, or null while there is none to write. */
  #nextOf(lane: LaneState, ramp: RampSettings, known: RampCeiling): NextCeiling | null {
    const ramps = this.#parts.ramps[lane.partition];
    const turn = lane.rampTurn;
    const isScheduled = ramp.mode === 'scheduled';
    const servedLogMs = isScheduled ? known.sinceLogMs : Math.max(known.sinceLogMs, turn.servedLogMs);
    const elapsedMs = ramps.logMs - servedLogMs;
    if (elapsedMs < STEP_MS) return null;
    const top = rampTop(lane.settings, lane.direction) as number;
    const ceiling = Math.min(top, Math.max(ramp.fromPerSecond, known.ceiling));
    const slope = slopeOf(ramp, top);
    const usage = this.#usageOf(lane);
    const used = usedPercent(Math.max(0, ceiling - usage.all), ceiling, slope);
    // The log does not show the use since the last record: this node knows its own, and others' by their demand.
    const unusedMs = usage.others > 0 ? 0 : Math.max(0, turn.backLogMs - servedLogMs);
    const elapsedSeconds = (isScheduled ? elapsedMs : unusedMs) / 1000;
    const step = { ceiling, top, slope, elapsedSeconds, usedPercent: used };
    const next = RAMP_STEPS[ramp.mode](step, ramp);
    // Steps are due every second; log time moves in steps of its own, and the delay of one step shortens the next.
    const lateMs = isScheduled ? 0 : elapsedMs % STEP_MS;
    const timeToLiveMs = Math.min(ramp.timeToLiveMs, known.timeToLiveMs);
    if (next !== known.ceiling || ramps.ageMs(known) > timeToLiveMs / RENEWALS) {
      const { readUntil } = ramps;
      // A step is due a second after the last record: a pause before that one, counted by the log, is no part of it.
      return { ceiling: next, lateMs, ...readUntil, readUntilMs: isScheduled ? readUntil.readUntilMs : 0 };
    }
    turn.servedLogMs = ramps.logMs - lateMs;
    turn.isClimbing = false;
    return null;
  }

  /**
   * Adds up the messages/s of the ceiling that nodes use: each its demand, up to its share. Reported usage lags behind
   * a ceiling that climbs, because no node reports that work of a known demand is refused a little less.
   */
  #usageOf(lane: LaneState): { readonly all: number; readonly others: number } {
    const { shares, membership, nodeKey } = this.#parts;
    const { count, demand, share } = shares.converge(lane.group, lane);
    const own = membership.indexOf(nodeKey, lane.partition);
    let [all, others] = [0, 0];
    for (let at = 0; at < count; at++) {
      const used = Math.min(demand[MESSAGES][at], share[MESSAGES][at]);
      all += used;
      if (at !== own) others += used;
    }
    return { all, others };
  }

  #rankIn({ mapLane, partition }: LaneState): number {
    const { usageMap, membership, nodeKey } = this.#parts;
    const { rows } = usageMap;
    let rank = 0;
    for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
      const member = membership.inSlot(rows.memberOf(row));
      if (membership.on(partition).has(member) && member.nodeKey < nodeKey) rank++;
    }
    return rank;
  }
}
