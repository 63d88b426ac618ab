import { type ConnectionCounts, createConnectionCounts } from '../connections/connection-bounds.js';
import type { ReservationCounts } from './open-reservations.js';

/** Counts acquires over HTTP by outcome, and their connections, since the start. */
export interface AcquireOutcomes {
  granted: number;
  refused: number;
  notReady: number;
  rejected: number;
  readonly reservations: ReservationCounts;
  readonly connections: ConnectionCounts;
}

export function createAcquireOutcomes(): AcquireOutcomes {
  const reservations = { open: 0, committed: 0, cancelled: 0, expired: 0, full: 0 };
  return { granted: 0, refused: 0, notReady: 0, rejected: 0, reservations, connections: createConnectionCounts() };
}
