/** Numbers of the room: unit, then what a larger one does. A formula follows from others, by what its comment says. */

import { LATELY_MS } from '../report/constants/constants.js';
import { SILENT_RATES_MS } from '../usage-map/constants.js';

// several files, those of core/report among them:
/**
 * Part of a depth, target, bound or piece that counts as all. More: reports later, and gives less of buckets that are
 * nearly full; less: more records, and more views when nodes come.
 */
export const NEARLY_ALL_RATIO = 0.9;
/**
 * Milliseconds within which records are simultaneous, and others have read them. Where they have not, a full bucket is
 * divided. More: larger bursts, advances on older news; ids that are made up cost less.
 */
export const AT_ONCE_MS = 100;
/** Milliseconds until an untouched lane rests, and between looks at it. More: longer rounds, later ends of rates. */
export const AT_REST_MS = 500;
/** Lanes computed, looked at or named in a round: some 10 µs each. More: follow sooner, in longer rounds. */
export const LANES_PER_ROUND = 100;
/**
 * Records per call beside the budget: tombstones and hidden ceilings. Also keys looked at for the oldest. More: sooner,
 * in longer calls; 64 in rounds of 20 ms are 3,200 records a second.
 */
export const RECORDS_PER_CALL = 64;
/** Rows that a stop writes (1 MB), and nodes viewed within AT_ONCE_MS. More: longer turns; more nodes start at once. */
export const ROWS_AT_ONCE_MAX = 20_000;
/** Multiple of due or usage that is published at most. More: others leave more that is not taken. */
export const HEADROOM_RATIO = 1.2;

// cluster-bucket.ts, from-cluster.ts:
/** Depths taken together within one delivery (docs/decisions/0177). More: larger bursts, deeper debts. */
export const TOGETHER_DEPTHS = 3;
/**
 * Depths that nodes take at once beside one that goes on. Of nodes that charge alike each leaves so many nodes' parts
 * to the others: together they stay within a third of a depth, and what they take at once within one.
 */
export const ADVANCE_DEPTHS = TOGETHER_DEPTHS - 1;
/** Part of the depth to which a busy bucket returns. More: met nodes' noise has more, bursts have less. */
export const SET_POINT_RATIO = 0.35;
/** Seconds of the return to it; of inflow above it when deep. More: slower; refused nodes write less. */
export const PULL_SECONDS = 1;
/** Part above the set point that is divided by use. More: less for a node that wakes. */
export const BY_USE_RATIO = 0.8;
/** Seconds whose noise a met node takes unread. More: fewer refusals, and less for throttled nodes. */
export const UNREAD_NOISE_SECONDS = 0.3;

// cluster-depth.ts:
/** Pieces of a depth that is not configured, at least. More: small quotas have larger bursts. */
export const LEAST_DEPTH_PIECES = 10;

// slot-tokens.ts:
/** Seconds whose noise stays unpublished. More: fewer records of steady nodes. */
export const UNPUBLISHED_NOISE_SECONDS = 2;
/** Depths of that noise at most. More: units beyond the room above the set point are lost. */
export const UNPUBLISHED_NOISE_DEPTHS = 0.3;
/**
 * Depths that all nodes together leave unpublished: while a bucket in pieces is full, and in lulls of deep ones
 * (docs/decisions/0070). More: fewer records, and others expect tokens that are taken.
 */
export const UNPUBLISHED_DEPTHS = 0.25;
/** Part of a node's bound that stays unpublished while work is refused. More: refused longer, fewer records. */
export const UNPUBLISHED_SHORT_RATIO = 0.7;
/**
 * Milliseconds of expected use that may be taken later, unpublished. Of costs a third. More: nodes exceed the quota by
 * more in the worst second; less: clients that poll every 100 ms use less of it.
 */
export const CREDIT_MS = 150;

// in-pieces.ts, recent-use.ts:
/** Quota ÷ expected use from which small buckets are not in pieces. More: more records, exact at more demand. */
export const FAR_BELOW_TIMES = 4;
/** Demand ÷ quota from which deep buckets are not; below, their pieces per node. More of both: more records. */
export const FAR_ABOVE_TIMES = 1.5;
export const FAR_ABOVE_PIECES = 15;
/** Seconds in which such a bucket fills at most. More: a burst of seconds passes for a demand that lasts. */
export const FAR_ABOVE_FILL_SECONDS = 120;
/** Nodes with the same turn. More: take more at once; less: a small quota is not used up. */
export const NODES_PER_TURN = 5;
/** Pieces per second of a bucket in pieces at most. More: the records themselves become the load. */
export const PIECES_PER_SECOND_MAX = 150;
/** Recent times for which a node's tokens are kept; twice that it is remembered. More: clients may ask seldom. */
export const WAITS_RECENT_TIMES = 4;

// expected-use.ts, coherence.ts, returnable.ts:
/** Demand ÷ share above which a node crowds others out. More: tokens stay longer with others; less: chance does it. */
export const CROWDS_OUT_RATIO = 1.3;
/** Ratio of squares that chance reaches in seconds. More: nodes that charge alike are found later. */
export const CHANCE_ALIKE_RATIO = 2;
/** Depths accepted beyond the bound of units given back. More: false records give more; a million give a depth. */
export const RETURN_SLACK_DEPTHS = 1e-6;

// keys, and their names in heartbeats (core/report/key-names.ts):
/** Milliseconds that a spent key with a limit of 0 stays. More: such keys fill the table; less: a second bucket. */
export const KEPT_AT_ZERO_MS = 86_400_000;
/** Milliseconds of a turn that counts silent keys: two turns show the rates of LATELY_MS. */
export const COUNTED_MS = LATELY_MS / 2;
/** Grants counted per second, and names per turn. More: exacter rates, for a lookup and 100 bytes by name each. */
export const COUNTED_PER_SECOND = 1000;
/** Rows of all nodes per heartbeat, of one a quarter. More: each node reads more than 60 kB a minute. */
export const NAMED_KEYS = 32;
/** Milliseconds until a row is published again: four times while an entry of its readers holds. */
export const NAMED_AGAIN_MS = SILENT_RATES_MS / 4;
