/** Chosen numbers of the room: unit, then what a larger one does. */

// max-min.ts:
/** Sweeps at most. More: levels of two dimensions that hold each other back come closer, for time. */
export const MAX_MIN_SWEEPS = 8;
/** Relative move of a settled water level. More: fewer sweeps, and more that lies idle. */
export const SETTLED_RATIO = 1e-5;

// lending.ts:
/** Sweeps at most. More: two dimensions lend each other more of what one refuses, for time. */
export const LENDING_SWEEPS = 4;
/** Part of the target that a share counts as at least. More: tiny shares take more; less: sums without digits. */
export const LEAST_PART_RATIO = 1e-6;

// smoothing.ts, slew.ts:
/** Part that an arrived share may lack; part of a climb between beats. More: rests earlier, with a jump. */
export const ARRIVED_RATIO = 0.01;
/**
 * Milliseconds of log time that one step counts. More: a node that was at rest jumps further; less than the time
 * between two reports of a node whose share moves: it arrives late.
 */
export const APPROACH_STEP_MS = 250;
