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

// reporter.ts:
/** Slow spans of silence until a lane is not sampled. More: work for silent lanes; less: changes stay unseen. */
export const SILENT_SLOW_SPANS = 4;
/** Standard deviations where work is refused. More: a quiet node that wants more is refused longer. */
export const REFUSED_DEVIATIONS = 2.8;
/** Published ÷ present demand at which a claim is over. More: others wait longer for what it leaves. */
export const CLAIM_OVER_RATIO = 1.5;
/** Milliseconds that a dead node is remembered at most: as any bucket fills sooner. More: keys stay in the log. */
export const FULL_IN_MAX_MS = 40 * 86_400_000;

// heartbeat.ts, ramp-writer.ts, hidden-ceilings.ts:
/** Milliseconds between beats while an own share moves. More: fewer records, larger steps. */
export const MOVING_BEAT_MS = 200;
/** Beats of a climbing ramp, at most four in MOVING_BEAT_MS. More: more records, smaller steps. */
export const RAMP_BEATS = 100;
/** Hidden ceilings written per round. More: sooner found; at 20 ms 5,000 records, 375 kB a second. */
export const CEILINGS_PER_ROUND = 100;

// report-budget.ts, backend-sender.ts, key-names.ts:
/** Reports of which one goes to the bundle due for longest. More: old ones wait, larger errors do not. */
export const OLDEST_EVERY = 4;
/** Records of an unchanged health while one is valid. More: more records; less: a lost one ends it. */
export const HEALTH_REPEATS = 3;
/** Heat of a key without demand or limit. More: idle keys are named as often as hot ones. */
export const LEAST_HEAT = 0.01;

// said-gone.ts, publisher.ts, forget.ts:
/** Nodes that wait for each other, a heartbeat each. More: fewer farewells twice, later ones if many fail. */
export const FAREWELL_TURNS = 5;
/** Nodes that write another's lost farewell, though one is enough. More: surer, more records. */
export const FAREWELL_TELLERS = 8;
/** Dead nodes remembered for stocks, and keys of one freed at once. More: memory, and longer calls. */
export const FORGOTTEN_MAX = 1000;
