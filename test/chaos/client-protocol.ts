/** Between the run and its clients, over an IPC channel. */
export type ClientOrder =
  | { readonly kind: 'begin'; readonly urls: readonly string[] }
  /** Half of what a node is asked goes to its second process. */
  | { readonly kind: 'second'; readonly node: number; readonly isOn: boolean };

/** due, sent and ended (epoch ms); slot, group, outcome: indexes in their lists. */
export const CALL_FIELDS = 6;

export interface SeenCalls {
  readonly calls: Float64Array;
}

/**
 * lost:   the connection went before the answer came
 * unsent: there was no connection, or too many calls waited on it already
 */
export const OUTCOMES = ['granted', 'refused', 'not-ready', 'error', 'lost', 'unsent'] as const;
export type Outcome = (typeof OUTCOMES)[number];
