/** Chosen numbers of the room: unit, then what a larger one does. */

// attachments/patterns.ts:
/** Characters of a name that matches a pattern. More: one match takes longer. */
export const PATTERN_NAME_MAX = 256;

// kafka-quotas/next-water-level.ts:
/** Part of the value that is left after one step. More: falls in more steps; less: Kafka blocks longer. */
export const FALL_RATIO = 0.8;
/** Part of the value above which a waiting broker is saturated. More: its value rises less often. */
export const SATURATED_RATIO = 0.9;
/** Relative change of the value that is left out. More: fewer alterations, a coarser value. */
export const UNCHANGED_RATIO = 0.01;
/** Factor on half of the quota, or the highest rate. More: clients that wake exceed more. */
export const HEADROOM_FACTOR = 1.25;

// kafka-quotas/limit-state.ts:
/** Values kept of this term, and of former ones. More: larger records; less: forgets values of requests under way. */
export const LIMIT_VALUES_KEPT = 32;
/** Values kept of one former writer: one under way, one in hand. More: fewer former writers are remembered. */
export const WRITER_VALUES_KEPT = 4;
/** Milliseconds until a change is judged; it shows within 300. More: foreign changes are found later. */
export const SETTLED_AFTER_MS = 900;

// kafka-quotas/keeper.ts:
/** Bytes per second of a marker, which limits nobody. More: no whole number that a double holds. */
export const MARKER_BYTES_PER_SECOND = 1e15;
/** Milliseconds until a writer limits an entity that no exporter shows. More: it stays unlimited for longer. */
export const BLIND_AFTER_MS = 5000;
/** Milliseconds between two alterations of a limit. More: fewer requests, values follow later. */
export const ALTERED_EVERY_MS = 1000;
/** Milliseconds until an alteration's time is forgotten; it matters for a second. More: memory. */
export const ALTERED_KEPT_MS = 60_000;
/** Milliseconds until an unseen entity loses its limit. More: records stay; less: restarts of brokers free it. */
export const UNSEEN_MS = 600_000;
/** Milliseconds until a silent keeper's record is freed. More: dead ones stay; less: stalled ones write again. */
export const SILENT_KEEPER_MS = 600_000;

// kafka-quotas/exporter-book.ts:
/** Milliseconds of empty pages before a warning. More: later warnings; less: warns before clients have sent. */
export const EMPTY_TOLD_AFTER_MS = 10_000;
/** Entities that this warning names. More: longer lines. */
export const EXPECTED_SHOWN = 5;

// registry/registry-epochs.ts:
/** Offsets between two logs. More: covers more lost changes, uses numbers sooner; this one lasts for 2^32 logs. */
export const UNREAD_MAX = 2 ** 20;

// registry/trail.ts, checkpoints.ts, registry.ts, batched-changes.ts:
/** Records freed per second and node after a writer's death, some KB. More: larger bursts on the log. */
export const STALE_AT_ONCE = 1000;
/** Records renewed per append, some hundred KB. More: larger appends. */
export const RENEWED_AT_ONCE = 200;
/** States per append, some hundred KB. More: larger appends. */
export const STATES_AT_ONCE = 500;
/** Milliseconds that a deleted group's state stays. More: memory; less: a frozen writer's older state revives it. */
export const DELETED_KEPT_MS = 7 * 24 * 3_600_000;
/** Bytes of a part of a batch, half a record. More: parts that no record holds. */
export const PART_BYTES = 28 * 1024;
/** Milliseconds of log time that parts wait for their batch. More: memory; less: a late batch is void. */
export const STRAY_MS = 3_600_000;
