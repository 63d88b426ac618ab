/** Chosen numbers of the room: unit, then what a larger one does. Some more are in core/account/constants.ts. */

// several files, those of core/account among them:
/** Standard deviations that chance reaches. More: fewer records, changes are noticed later, bursts pass. */
export const CHANCE_DEVIATIONS = 3;
/** Relative change that is significant (PIP-82). Of a remembered share half. More: fewer records. */
export const SIGNIFICANT_RATIO = 0.1;
/** Relative change that is too small to be written. Of that share half. More: fewer records, coarser figures. */
export const SMALL_CHANGE_RATIO = 0.02;
/** Relative change of what is only shown. More: fewer records, and older figures on pages. */
export const SHOWN_CHANGE_RATIO = 0.25;
/** Part of the target of the least share step. Of a corrected rate ten times that. More: fewer records. */
export const TARGET_STEP_RATIO = 0.0001;
/** Milliseconds until variances fade and rates are compared again. More: slower to see changes, fewer records. */
export const LATELY_MS = 5000;
/** Milliseconds until a record that did not help is written again. More: newcomers lack it for longer. */
export const WRITTEN_AGAIN_MS = 5000;
/**
 * Milliseconds until a beat, a next node's turn, a claim's end. More: fewer records, later ones; less than the brief
 * span (232 ms): rates of held-back time end claims too early.
 */
export const SOON_MS = 250;

// sample:
/** Pieces that come together by chance. More: fewer bursts pass for a risen rate, and it shows later. */
export const CHANCE_PIECES = 3;
/** Part of the time held back that counts as all of it. More: clients that come back seldom claim nothing. */
export const HELD_BACK_RATIO = 0.65;
/** Fast spans after a change, at which its report is checked. More: more records, and exact for longer. */
export const LOOKS_IN_FAST_SPANS = [1, 2, 3, 4, 6, 8, 11, 15, 20, 28, 40, 60, 100, 300, 1000];

// look-list.ts:
/** Slow spans in which all lanes at rest have a turn. More: less work; above 1 the end of a rate shows late. */
export const REST_SLOW_SPANS = 0.8;
/** Rounds in which all busy lanes have a turn. More: shorter rounds, older rates. */
export const BUSY_ROUNDS = 20;
