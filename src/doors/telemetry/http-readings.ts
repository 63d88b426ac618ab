import type { AcquireOutcomes } from '../http/acquire/acquire-outcomes.js';
import { type ConnectionCounts, END_REASONS } from '../http/connections/connection-bounds.js';
import type { HTTP_METRICS } from './metric-table.js';
import type { Reading } from './metric-tables.js';

export function httpReadings(outcomes: AcquireOutcomes): Readonly<Record<keyof typeof HTTP_METRICS, Reading>> {
  return {
    quotamesh_http_acquires_total: (series) => {
      series(outcomes.granted, { outcome: 'granted' });
      series(outcomes.refused, { outcome: 'refused' });
      series(outcomes.notReady, { outcome: 'not-ready' });
      series(outcomes.rejected, { outcome: 'rejected' });
    },
    ...connectionReadings(outcomes.connections),
    quotamesh_http_reservations: (series) => series(outcomes.reservations.open),
    quotamesh_http_reservations_ended_total: (series) => {
      for (const outcome of ['committed', 'cancelled', 'expired', 'full'] as const) {
        series(outcomes.reservations[outcome], { outcome });
      }
    },
  };
}

function connectionReadings(counts: ConnectionCounts) {
  return {
    quotamesh_http_connections: ((series) => series(counts.open)) as Reading,
    quotamesh_http_held_bytes: ((series) => series(counts.heldBytes)) as Reading,
    quotamesh_http_connections_ended_total: ((series) => {
      for (const reason of END_REASONS) series(counts.ended[reason], { reason });
    }) as Reading,
  };
}
