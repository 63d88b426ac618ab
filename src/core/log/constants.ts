/** Chosen numbers of the room: unit, then what a larger one does. */

// log-time.ts:
/** Heartbeats that log time advances between two records. More: an outage of the log ages what it has. */
export const LOG_STEP_HEARTBEATS = 2;
/** Milliseconds of the longest step that counts. More: accepts clocks years off; less: forgets times without nodes. */
export const LOG_JUMP_MAX_MS = 365 * 24 * 3_600_000;

// outgoing-queue.ts:
/** Milliseconds from a failed produce to the next. More: reports wait; less: a dead topic keeps the node busy. */
export const FAILED_PRODUCE_PAUSE_MS = 100;

// own-echo.ts:
/** Moments of one partition with records in flight. More: exact times for longer, and memory. */
export const ECHO_MOMENTS_MAX = 1024;

// reading: log-reader.ts, refusals.ts:
/** Weight of the newest round trip. More: follows faster, and noise with it. */
export const ROUND_TRIP_WEIGHT = 1 / 8;
/** Milliseconds without a refusal before the next notice. More: fewer notices. */
export const REFUSAL_QUIET_MS = 60_000;
/** Nodes counted by name at once. More: memory for ids that are made up. */
export const REFUSED_NAMES_MAX = 16;
