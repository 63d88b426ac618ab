/**
 * Defines the words of the project as types; other files use no synonyms.
 *
 * A *lane* is one direction of one group; a *slot* is one dimension of one lane. Both are small integers, so that the
 * coordinator and the limiter can meet in typed arrays:
 *
 *     lane = group × DIRECTIONS + direction          slot = lane × DIMENSIONS + dimension
 */

export type NodeId = string;

/** 96-bit hash of cluster and group, 16 characters of base64url (ids.ts). */
export type GroupId = string;

/** 96-bit hash of cluster and backend, 16 characters of base64url (ids.ts). */
export type BackendId = string;

/** 48-bit hash of cluster and node id, exact in a double (ids.ts). */
export type NodeKey = number;

/** 32-bit hash of an epoch's name, never 0 (ids.ts). */
export type EpochTag = number;

/** Orders the lives of one node id: the incarnation counted in the log, then a random tie-breaker (ids.ts). */
export type Incarnation = number;

export const DIRECTIONS = ['publish', 'dispatch'] as const;
export type Direction = (typeof DIRECTIONS)[number];
export const DIRECTION_COUNT = DIRECTIONS.length;

export const DIMENSIONS = ['messages', 'bytes'] as const;
export type Dimension = (typeof DIMENSIONS)[number];
export const DIMENSION_COUNT = DIMENSIONS.length;
export const MESSAGES = 0;
export const BYTES = 1;

/** Units per second in every dimension of a lane; Infinity = no quota (unlimited), 0 = blocked. */
export type Rates = readonly [messagesPerSecond: number, bytesPerSecond: number];

/** One writable amount per dimension. A typed array of two elements takes three times as much. */
export type LaneUnits = number[];

export function noUnits(): LaneUnits {
  return new Array<number>(DIMENSION_COUNT).fill(0);
}

export function copyUnits(from: Readonly<LaneUnits>, to: LaneUnits): void {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) to[dimension] = from[dimension];
}

export const UNLIMITED: Rates = [Infinity, Infinity];

export const ISOLATION_POLICIES = ['equal-share', 'floor', 'closed', 'open'] as const;
export type IsolationPolicy = (typeof ISOLATION_POLICIES)[number];

export const HEADROOMS = ['by-weight', 'by-demand', 'none'] as const;
export type Headroom = (typeof HEADROOMS)[number];

export function laneOf(group: number, direction: number): number {
  return group * DIRECTION_COUNT + direction;
}

export function directionOfLane(lane: number): Direction {
  return DIRECTIONS[lane % DIRECTION_COUNT];
}

export function lanesOf(group: number): readonly number[] {
  return [laneOf(group, 0), laneOf(group, 1)];
}

export function slotOf(lane: number, dimension: number): number {
  return lane * DIMENSION_COUNT + dimension;
}

export function directionIndex(direction: Direction): number {
  return direction === 'publish' ? 0 : 1;
}

/** Partition whose log decides about membership and measures silence. */
export const MEMBERSHIP_PARTITION = 0;
