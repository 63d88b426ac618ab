import type { Access } from '../../base/access/access.js';
import type { MetricRow } from './metric-table.js';
import type { Reading } from './metric-tables.js';

/** Metrics of callers, and of those who were refused. */
export const ACCESS_METRICS = {
  quotamesh_auth_enabled: { type: 'gauge', help: '1 while `auth:` is in force, 0 while every caller has every role.' },
  quotamesh_auth_failures_total: {
    type: 'counter',
    help: 'Requests and logins that were refused: missing (nothing shown), unknown (wrong token, certificate without rule), untrusted (certificate of another authority), limited (too many failures of the address), denied (known, without the role or the tenant).',
    labels: ['listener', 'reason'],
  },
} as const satisfies Readonly<Record<string, MetricRow>>;

export function accessReadings(access: Access): Readonly<Record<keyof typeof ACCESS_METRICS, Reading>> {
  return {
    quotamesh_auth_enabled: (series) => series(access.isOpen ? 0 : 1),
    quotamesh_auth_failures_total: (series) => {
      for (const [key, count] of access.failures) {
        const [listener = '', reason = ''] = key.split(' ');
        series(count, { listener, reason });
      }
    },
  };
}
