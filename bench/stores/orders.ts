/** Requests per second of all processes together. */
export const QUOTA = 1000;

export const SYSTEMS = ['quotamesh', 'rate-limiter-flexible', '@fastify/rate-limit'] as const;
export type System = (typeof SYSTEMS)[number];

export function isSystem(name: string): name is System {
  return (SYSTEMS as readonly string[]).includes(name);
}

export type Order =
  /** Evenly from now on; 0 = none. */
  | { readonly kind: 'rate'; readonly perSecond: number }
  | { readonly kind: 'burst'; readonly requests: number }
  /** Answered with what was seen since the last time. */
  | { readonly kind: 'collect' }
  | { readonly kind: 'stop' };

export interface Seen {
  /** Epoch milliseconds. */
  grantedMs: number[];
  refused: number;
  /** The limiter could not say. */
  errors: number;
}

export interface Collected extends Seen {
  readonly worstLatencyMs: number;
}
