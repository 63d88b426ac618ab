/** Chosen numbers of the room: unit, then what a larger one does. */

// cost-meter.ts:
/** Backends that a record names per lane. More: larger records; less: more cost counts for none of them. */
export const BACKENDS_PER_LANE = 16;
/** Backends whose costs a lane keeps apart. More: memory for names that clients make up. */
export const BACKENDS_TRACKED = 256;
/** Pieces of work per second in a record at least. More: costs are forgotten earlier; 100/s last a minute. */
export const LEAST_PACE = 1e-3;
/** Time constant of the rate, as a part of the average's. More: the loop of backends swings. */
export const PACE_RATIO = 0.5;

// cost-report.ts:
/** Milliseconds between looks at costs. More: changes are written later; less: nothing new is seen. */
export const COST_LOOK_MS = 250;
/** Milliseconds until a small change is written. More: fewer records, with older costs. */
export const COST_PATIENCE_MS = 5000;
/** Milliseconds for a group that backends hold down. More: its limit, from its own rate, follows later. */
export const BUSY_COST_PATIENCE_MS = 2000;
/** Relative change that is not written. More: fewer records, and targets further off. */
export const SMALL_COST_RATIO = 0.01;
/** Relative change that is written at once, above noise. More: fewer records, targets follow later. */
export const LARGE_COST_RATIO = 0.05;
/** Standard deviations of noise. More: fewer records of slow lanes, whose changes are seen later. */
export const COST_NOISE_DEVIATIONS = 2;

// smoothed-rate.ts:
/** Milliseconds of age at least: the first piece is one per second. More: young rates read lower. */
export const YOUNGEST_MS = 1000;

// busiest.ts:
/** Part of a backend's cost at which a group is busy. More: fewer groups are named. */
export const BUSY_RATIO = 0.01;

// ramp: ramp.ts, ramp-book.ts, lane-ends.ts:
/** Milliseconds of a ceiling without renewal, in settings and records. More: a dead ceiling may stay longer. */
export const TIME_TO_LIVE_MAX_MS = 30 * 86_400_000;
/** Records of a resting ceiling, or of a health, while it counts. More: more records; less: fewer may be lost. */
export const RENEWALS = 4;
/** Ceilings of one log, enough for 100,000 groups in both directions. More: memory, some 200 bytes each. */
export const CEILINGS_MAX = 200_000;
/** Outdated ends kept beyond twice the lanes. More: memory; less: more sorting out. */
export const OUTDATED_ENDS_MAX = 64;
