import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Dashboard, Panel } from '@grafana/schema';
import { parse } from 'yaml';

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export const ALERT_FILE = inRoot('deploy/prometheus/quotamesh-alerts.yml');
export const DASHBOARD_FILE = inRoot('deploy/grafana/quotamesh.json');

export function shippedAlerts(): Alert[] {
  const { groups } = parse(readFileSync(ALERT_FILE, 'utf8')) as { groups: { rules: Alert[] }[] };
  return groups.flatMap(({ rules }) => rules);
}

/** Every query of every panel. */
export function dashboardQueries(): { panel: string; expr: string; legend: string }[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8')) as Dashboard;
  return (panels as Panel[]).flatMap(({ title = '', targets = [] }) =>
    targets.map(({ expr, legendFormat }) => ({ panel: title, expr: String(expr), legend: String(legendFormat) })),
  );
}

/** `$__rate_interval` is Grafana's. */
export function withoutIntervals(expr: string): string {
  return expr.replaceAll('[$__rate_interval]', '[1m]');
}

function inRoot(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
