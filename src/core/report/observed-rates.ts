import { BYTES, DIMENSION_COUNT, MESSAGES } from '../base/vocabulary.js';
import type { LaneState } from '../lanes/lane-state.js';
import type { ObservedRow } from '../protocol/record.js';
import { createLaneRates, estimate, type LaneRates } from '../sample/estimate.js';
import { SLOW } from '../sample/lane-sample.js';

/**
 * What heartbeats tell of lanes that share tokens, beside their reports. A report is due when the cluster's bucket
 * would be another one. A node that takes what all others expect of it has nothing to say, and its report may be of the
 * first moment of its work: usage 0, a demand by two arrivals in a millisecond. Shares are right all the same, but
 * whoever looks at the rates is misled, for as long as `forcedReportMs`.
 *
 * A report more is no remedy. It moves what others expect of the node. Where a key is asked for about as much as its
 * quota, demands that are too high keep all nodes to their shares. Told exactly, a lull of some seconds made a node
 * seem to want less than its share, so that it was let take all that it wanted: 116 to 139 of 100 were admitted in
 * 10 s. So the rates are told with heartbeats, which are written anyway, and no share follows from them
 * (docs/decisions/0132).
 *
 * Every node reads every heartbeat. So within one heartbeat's time all nodes together tell of some 32 lanes, and a node
 * of at most 8, which are 190 bytes. Lanes are looked at in turn. A lane far below its quota is among them: its bucket
 * is full, so nothing is reported of it at all.
 */
export class ObservedRates {
  readonly #told = new WeakMap<LaneState, Told>();
  #next = 0;
  /** Rows that may be told; a node of many has less than one per heartbeat. */
  #mayTell = 0;

  /** The rows of the next heartbeat. @param nodes that are alive */
  next(lanes: readonly LaneState[], nodes: number, nowMs: number): ObservedRow[] {
    const rows: ObservedRow[] = [];
    this.#mayTell = Math.min(ROWS_TOLD_MAX, this.#mayTell + ROWS_OF_ALL_NODES / Math.max(1, nodes));
    const lanesLooked = Math.min(lanes.length, LANES_LOOKED_MAX);
    for (let looked = 0; looked < lanesLooked && this.#mayTell >= 1; looked++) {
      this.#next = (this.#next + 1) % lanes.length;
      const lane = lanes[this.#next] as LaneState;
      if (!this.#look(lane, nowMs)) continue;
      rows.push(rowOf(lane));
      this.#mayTell--;
    }
    return rows;
  }

  /** Leaves the rates in `now`; returns whether they have to be told. */
  #look(lane: LaneState, nowMs: number): boolean {
    const { sample, tokens, hasEntry } = lane;
    if (tokens === null || !tokens.isShared || tokens.isDue || tokens.isEnding) return false;
    if (!sample.isFull(SLOW) || nowMs - sample.now.atMs > SAMPLE_FRESH_MS) return false;
    estimate(sample, SLOW, now);
    const reported = hasEntry ? lane.reported : NOTHING;
    const seconds = sample.lengthMs(SLOW) / 1000;
    const told = this.#told.get(lane);
    const isHeld = told !== undefined && isSame(told.beside, reported);
    const isNews = isFar(now, isHeld ? told.rates : reported, seconds);
    const isLongAgo = isHeld && nowMs - told.atMs >= TOLD_AGAIN_MS && isFar(told.rates, reported, seconds);
    if (!isNews && !isLongAgo) return false;
    this.#told.set(lane, { beside: copyOf(reported), rates: copyOf(now), atMs: nowMs });
    return true;
  }
}

/** What was told of a lane, and the report that stood in the log then: it holds until that says something else. */
interface Told {
  readonly beside: LaneRates;
  readonly rates: LaneRates;
  /** Local monotonic time. */
  readonly atMs: number;
}

const now = createLaneRates();
const NOTHING: LaneRates = createLaneRates();

/** More lanes than these take longer than a round's other work. */
const LANES_LOOKED_MAX = 512;
const ROWS_TOLD_MAX = 8;
/** Each node reads 80 kB a minute for it, however many there are. */
const ROWS_OF_ALL_NODES = 32;
/** A lane at rest has its turn to be sampled every 4 s at most (look-list.ts). */
const SAMPLE_FRESH_MS = 5000;
/** Readers that have come since learn of it then, and so do those that read a report of the lane only after it. */
const TOLD_AGAIN_MS = 30_000;
const FAR_RATIO = 0.25;
const FAR_DEVIATIONS = 3;

/**
 * Whether rates differ by more than a quarter, and by more than arrivals of the counted span make one expect.
 * @param counted over so many seconds; what was told may be by a few arrivals in a moment
 */
function isFar(counted: LaneRates, told: LaneRates, seconds: number): boolean {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    const chance = FAR_DEVIATIONS * Math.sqrt((counted.squares[dimension] as number) / seconds);
    for (const column of ['usage', 'demand'] as const) {
      const [here, there] = [counted[column][dimension] as number, told[column][dimension] as number];
      if (Math.abs(here - there) > Math.max(chance, FAR_RATIO * Math.max(here, there))) return true;
    }
  }
  return false;
}

function isSame(one: LaneRates, other: LaneRates): boolean {
  return (['usage', 'demand'] as const).every((column) =>
    one[column].every((rate, dimension) => rate === other[column][dimension]),
  );
}

function copyOf({ usage, demand, squares }: LaneRates): LaneRates {
  return { usage: usage.slice(), demand: demand.slice(), squares: squares.slice() };
}

function rowOf({ groupId, direction }: LaneState): ObservedRow {
  return {
    groupId,
    direction,
    usageMessages: now.usage[MESSAGES] as number,
    usageBytes: now.usage[BYTES] as number,
    demandMessages: now.demand[MESSAGES] as number,
    demandBytes: now.demand[BYTES] as number,
  };
}
