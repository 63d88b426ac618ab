/**
 * Numbers of the room: unit, then what a larger one does. A formula follows from others, by what its comment says. Some
 * more are in core/account/constants.ts.
 */

import { CLAIM_FACTOR } from '../../base/constants.js';
import { APPROACH_STEP_MS } from '../../convergence/constants.js';

// several files, those of core/account among them:
/** Standard deviations that chance reaches. More: fewer records, changes are noticed later, bursts pass. */
export const CHANCE_DEVIATIONS = 3;
/**
 * Relative change that is too small to be written. Of a remembered share half. Part of a quota in demand that counts as
 * none. More: fewer records, coarser figures.
 */
export const SMALL_CHANGE_RATIO = 0.02;
/** Relative change of what is only shown. More: fewer records, and older figures on pages. */
export const SHOWN_CHANGE_RATIO = 0.25;
/** Part of the target of the least share step. Of a corrected rate ten times that. More: fewer records. */
export const TARGET_STEP_RATIO = 0.0001;
/** Milliseconds of variances, and until rates are compared again. More: slower to see changes, fewer records. */
export const LATELY_MS = 5000;
/**
 * Milliseconds until a beat, a next node's turn, a claim's end. More: fewer records, later ones; less than the brief
 * span (232 ms): rates of held-back time end claims too early.
 */
export const SOON_MS = 250;

/**
 * Pieces that come together by chance, and that a node falls behind. Few arrivals are no Gaussian: by Bernstein's bound
 * z²/3 pieces are added to z deviations.
 */
export const CHANCE_PIECES = CHANCE_DEVIATIONS ** 2 / 3;
/**
 * Part of a period by which its work has to be done. More: later work for lanes at rest and busy, and fewer
 * beats; 1 or more: rates end late, busy lanes pass for ones at rest, and steps of a share are lost.
 */
export const IN_TIME_RATIO = 0.8;

// sample:
/** Part of the time held back that counts as all of it. More: clients that come back seldom claim nothing. */
export const HELD_BACK_RATIO = 0.65;
/** Fast spans after a change, at which its report is checked. More: more records, and exact for longer. */
export const LOOKS_IN_FAST_SPANS = [1, 2, 3, 4, 6, 8, 11, 15, 20, 28, 40, 60, 100, 300, 1000];

// reporter.ts:
/**
 * Slow spans of silence until a lane is not sampled. A span rolls over two marks at looks of lanes at rest. Also
 * windows until its clumps are forgotten. More: later.
 */
export const SILENT_SLOW_SPANS = Math.ceil(2 * (1 + IN_TIME_RATIO));
/** Published ÷ present demand at which a claim is over: demand is nearer to what was taken than to the claim. */
export const CLAIM_OVER_RATIO = (1 + CLAIM_FACTOR) / 2;
/** Milliseconds that a dead node is remembered at most: as any bucket fills sooner. More: keys stay in the log. */
export const FULL_IN_MAX_MS = 40 * 86_400_000;

// heartbeat.ts, ramp-writer.ts, hidden-ceilings.ts:
/** Milliseconds between beats while an own share moves: in time for one step, which counts no more. */
export const MOVING_BEAT_MS = IN_TIME_RATIO * APPROACH_STEP_MS;

// report-budget.ts, backend-sender.ts, key-names.ts:
/** Reports of which one goes to the bundle due for longest. More: old ones wait, larger errors do not. */
export const OLDEST_EVERY = 4;

// said-gone.ts, publisher.ts, forget.ts:
/**
 * Nodes that write another's farewell, though one is enough: in turn, a heartbeat each, or a lost one at once. More:
 * surer, more records, later ones where many fail.
 */
export const FAREWELL_NODES = 5;
/** Dead nodes remembered for stocks, and keys of one freed at once. More: memory, and longer calls. */
export const FORGOTTEN_MAX = 1000;
