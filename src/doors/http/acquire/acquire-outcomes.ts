import { type ConnectionCounts, createConnectionCounts } from '../connections/connection-counts.js';
import type { ReservationCounts } from './open-reservations.js';

/** Acquires over HTTP since the start, by outcome, and the connections they come by; read by the metrics. */
export interface AcquireOutcomes {
  granted: number;
  refused: number;
  notReady: number;
  /** Wrong requests, 4xx other than 429. */
  rejected: number;
  readonly reservations: ReservationCounts;
  readonly connections: ConnectionCounts;
}

export function createAcquireOutcomes(): AcquireOutcomes {
  const reservations = { open: 0, committed: 0, cancelled: 0, expired: 0, full: 0 };
  return { granted: 0, refused: 0, notReady: 0, rejected: 0, reservations, connections: createConnectionCounts() };
}
