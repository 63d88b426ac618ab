/** Chosen numbers of the room: unit, then what a larger one does. */

// Sums of floats, of convergence and accounts:
/** Part by which sums of floats differ. More: counts as met, full, empty or lent what is not. */
export const ROUNDING_ERROR = 1e-9;

// settings.ts, vocabulary.ts: bounds of a cluster.
/** Node ids of a cluster, and of a pool that is read. More: forged pools may be larger. */
export const NODES_MAX = 100_000;
/** UTF-16 code units of a key's name. More: larger heartbeats. */
export const KEY_NAME_MAX = 200;

// protocol/record.ts: bounds of what is read.
/** Key rows of a record. More: larger heartbeats, and more of each read. */
export const KEY_ROWS_MAX = 64;
/** Bundles of a node. More: more groups in use at once, at least one in each. */
export const BUNDLES_MAX = 65_536;

// Claims, of reports and accounts:
/** Factor by which each report raises a held-back node's demand. More: its share follows in fewer reports. */
export const CLAIM_FACTOR = 2;
/** First claim of a node without a share, in equal parts: 1 after four reports. More: wakes with more. */
export const LEAST_CLAIM = 1 / 16;
