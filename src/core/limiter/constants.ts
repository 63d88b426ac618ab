/** Chosen numbers of the room: unit, then what a larger one does. */

// buckets.ts, bucket-wait.ts, window.ts:
/**
 * Units of rounding error, which mint nothing: the whole amount is charged. More: admits before the tokens are there;
 * less: refuses a client that comes back exactly in time.
 */
export const TOKEN_SLACK = 1e-6;
/** Part of the depth that is a useful amount. More: waiting clients wake later, and find more. */
export const USEFUL_DEPTH_RATIO = 0.01;
/** Milliseconds that a clock steps back when it was set. More: no refill for longer after smaller steps. */
export const CLOCK_SET_BACK_MS = 1000;
/** Units per second in place of 0, which would block. More: a dry bucket fills; this takes thirty years. */
export const LEAST_INFLOW = 1e-9;

// burst.ts: depth of the bucket of a gate, which is a node's share, a topic or a client:
/** Milliseconds of the limit. More: clumps pass, and the second after idling admits more above the quota. */
export const GATE_BURST_MS = 100;
/** Pieces of work at least. More: noise of small rates passes, and each node admits as many at once. */
export const GATE_PIECES = 20;
/** Seconds of target/N that bound these pieces. More: small quotas are exceeded for longer. */
export const GATE_BOUND_SECONDS = 0.25;
/** Seconds of target/N for a node that has reported nothing. More: nodes that wake together exceed more. */
export const IDLE_BOUND_SECONDS = 0.1;
/** Seconds of target/N that a second piece may take. More: more of a small quota is used, and exceeded. */
export const SECOND_PIECE_SECONDS = 0.5;

// limiter.ts:
/** Square units of a sum, for estimates only. More: the square of 16 KiB no longer counts beside it. */
export const SQUARES_MAX = 1e24;

// levels.ts, keyed-buckets.ts:
/** Milliseconds without use until a full row is dropped. More: memory, and parts for topics that have gone. */
export const KEYED_IDLE_MS = 10_000;
/** Milliseconds between sweeps. More: idle rows stay longer; less: more work per round. */
export const SWEEP_EVERY_MS = 1000;
/** Rows that one sweep tests. More: longer rounds; less: large tables take longer, 10,000 rows ten seconds. */
export const SWEPT_ROWS = 1000;
/** Rows tested for a newcomer at the bound. More: finds room more often, and made-up names cost more. */
export const BOUND_LOOK_ROWS = 256;

// topic-split.ts:
/** Milliseconds between divisions of a share. More: a new topic keeps its even part for longer. */
export const DIVIDE_EVERY_MS = 100;
/** Milliseconds of a topic's average rates. More: steadier parts, which follow later. */
export const TOPIC_AVERAGE_MS = 500;
/** Part of the limit that is divided. More: quiet topics find the lane's bucket dry more often. */
export const DIVIDED_RATIO = 0.98;
/** Part of a demand from which it counts as met. More: rounding leaves a topic without room for noise. */
export const MET_DEMAND_RATIO = 0.999;
/** Part of a met topic's demand on top. More: other topics wait longer for what it leaves. */
export const TOPIC_NOISE_RATIO = 0.25;

// topics-in-use.ts:
/** Milliseconds. More: topics that are seldom used are counted, and those that are gone for longer. */
export const TOPICS_WINDOW_MS = 10_000;
/** Topics of a lane. More: exact counts of larger groups, and memory. */
export const LANE_TOPICS_MAX = 10_000;
/** Topics of a node. More: exact counts in more large groups at once, and memory. */
export const NODE_TOPICS_MAX = 50_000;

// wake-queue.ts:
/** Items before the head at which the array is cut. More: memory; less: more copies. */
export const QUEUE_CUT_ITEMS = 1024;
