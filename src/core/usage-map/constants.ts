/** Chosen numbers of the room: unit, then what a larger one does. */

// row-store.ts, record-store.ts:
/** Factor by which full columns grow. More: more lies empty; less: more is copied. */
export const GROWTH_FACTOR = 1.25;

// usage-map.ts:
/** Lanes at which numbers without rows are freed. More: memory; less: more looks for them. */
export const LANES_UNTIL_FREED = 65_536;

// row-bounds.ts, bundle-keys.ts:
/** Groups of a record. More: a writer may fill more of others' memory. */
export const RECORD_GROUPS_MAX = 64;
/** Partitions of a topic. More: memory per node; less than a topic has: its records are not found. */
export const MAP_PARTITIONS_MAX = 16;
/** Rows of 100 bytes that a row's costs weigh, and each backend. More: fewer rows fit beside costs. */
export const COST_WEIGHT_ROWS = 2;

// silent-rates.ts:
/** Milliseconds that an entry holds. More: old rates are shown; less than two repeats, 60 s: flickers. */
export const SILENT_RATES_MS = 120_000;
/** Entries, some 300 bytes each. More: memory; all nodes together publish 32 lanes a second. */
export const SILENT_RATES_MAX = 16_384;
/** Names between two rounds, which take them. More: memory while the log's start is read at once. */
export const UNTAKEN_NAMES_MAX = 4096;
