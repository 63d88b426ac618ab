/** Reasons for which the listener ends a connection. */
export const END_REASONS = ['idle-full', 'full', 'pipelined', 'not-reading', 'held-full'] as const;
export type EndReason = (typeof END_REASONS)[number];

/** Counted by the listener, read by the metrics. */
export interface ConnectionCounts {
  open: number;
  /** Bytes of waiting requests, of large bodies on their way, and of large answers not taken yet. */
  heldBytes: number;
  readonly ended: Record<EndReason, number>;
  /** Ended connections that are logged already. */
  readonly told: Record<EndReason, number>;
}

export function createConnectionCounts(): ConnectionCounts {
  return { open: 0, heldBytes: 0, ended: none(), told: none() };
}

function none(): Record<EndReason, number> {
  return { 'idle-full': 0, full: 0, pipelined: 0, 'not-reading': 0, 'held-full': 0 };
}
