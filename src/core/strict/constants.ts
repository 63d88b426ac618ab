/** Chosen numbers of the room: unit, then what a larger one does. */

// Times of a lane, milliseconds of log time:
/** Time from a record until streams follow it. More: deaf nodes go on longer; less: more beats. */
export const LEAD_MS = 400;
/** Silence after which a holder may be expired. More: its tokens come back later; less: pauses end lives. */
export const EXPIRY_MS = 5000;
/** Time that one step counts at most while anybody holds tokens. At least `LEAD_MS`. */
export const STEP_MAX_MS = 2000;
/** Grid of the times at which streams change. More: fewer plans in memory, later changes. */
export const PLAN_GRID_MS = 50;

// strict-fold.ts, strict-quota.ts:
/** Part of the depth that the lag of streams takes at most. More: slower logs are borne, smaller bursts. */
export const LAG_PART = 0.5;
export const LAG_MAX_MS = 1000;
/** Grid of the lags that nodes publish. More: fewer changes, more of the depth in reserve. */
export const LAG_GRID_MS = 5;
/** Part of the depth, less the lag's, that wallets hold together. More: fewer orders, less for who needs more. */
export const WALLETS_PART = 0.85;
/** Part of a budget that wallets hold together, less what is lost: what a killed node holds may have been spent. */
export const BUDGET_WALLETS_PART = 0.0025;
/** Tokens below which a wallet is not worth holding: then each token is ordered. */
export const WALLET_LEAST_TOKENS = 2;
/** Part of the pool's most below which streams leave more to it. More: more for orders, slower streams. */
export const POOL_LOW_PART = 0.3;
/** Milliseconds in which a low pool is filled up again. More: gentler. */
export const POOL_FILL_MS = 500;
/** Part of the pool's most from which it counts as full. */
export const FULL_PART = 0.9;
/** Silent lives that are remembered as ended: milliseconds of log time. More: memory of late records. */
export const ENDED_KEPT_MS = 3_600_000;

/** The same of keyed lanes, whose rows end when nobody is remembered. More: rows of idle keys stay longer. */
export const KEYED_ENDED_KEPT_MS = 60_000;

// budget-account.ts:
/** Names of gifts that are remembered. More: later repetitions count once, larger checkpoints. */
export const CREDITS_KEPT = 1000;

// strict-clock.ts:
/** Clocks may differ by one part in so many. More: tighter bounds, a promise for better clocks. */
export const DRIFT_PER = 1000;

// strict-node.ts:
/** Milliseconds between claims at least. More: fewer records, later orders. */
export const CLAIM_GAP_MS = 20;
/** Milliseconds after which a claim without an echo is written again. */
export const AGAIN_MS = 1000;
/** Milliseconds between signs of life of a holder; half of `LEAD_MS` if nobody else writes. */
export const BEAT_MS = 400;
/** The same of keyed lanes without streams. More: fewer records, less of the expiry left. */
export const KEYED_BEAT_MS = 1000;
/** Milliseconds without requests after which a node gives everything back. */
export const REST_MS = 4000;
/** Milliseconds by which each next reader waits. More: fewer answers to one newcomer, later ones. */
export const RANK_MS = 50;

// strict-checkpoints.ts:
/** Records after which the bucket is written whole. More: longer starts; less: more bytes. */
export const CHECKPOINT_RECORDS = 200;
/** The same of keyed lanes, whose rows all nodes keep in memory. */
export const KEYED_CHECKPOINT_RECORDS = 30;
