import type { HeldBudget } from './message-reader.js';

/** Counts of a listener since its start; `heldBytes` is a gauge. */
export type GrpcCounts = ReturnType<typeof createGrpcCounts>;

export function createGrpcCounts() {
  const held = { bytes: 0, max: 0 };
  return {
    /** Failed calls by the code of their error. */
    failed: {} as Record<string, number>,
    /** Connections that were ended here, or lost, by reason. */
    ended: { 'too-many-connections': 0, 'no-answer': 0, 'handshake-failed': 0, broken: 0 },
    get heldBytes(): number {
      return held.bytes;
    },
    /** Returns the budget that these counts show. */
    held(max: number): HeldBudget {
      return Object.assign(held, { max });
    },
  };
}
