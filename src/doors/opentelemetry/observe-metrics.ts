import type { Attributes, Meter, Observable } from 'opentelemetry-api';
import { GroupSeries } from '../telemetry/group-series.js';
import { GROUP_METRICS, type MetricRow } from '../telemetry/metric-table.js';
import { type MetricSources, MetricTables } from '../telemetry/metric-tables.js';

/**
 * Observes every metric of docs/reference/metrics.md, read when the SDK collects.
 *
 * @param ofNode stands in every series: a process may hold several nodes
 * @returns ends it
 */
export function observeMetrics(meter: Meter, sources: MetricSources, ofNode: Attributes): () => void {
  const tables = new MetricTables(sources);
  const groups = new GroupSeries(sources.node);
  const metrics = tables.metrics.map(({ name, row, read }) => ({ read, instrument: instrumentOf(meter, name, row) }));
  const ofGroups = new Map(
    Object.entries<MetricRow>(GROUP_METRICS).map(([name, row]) => [name, instrumentOf(meter, name, row)]),
  );
  const instruments = [...metrics.map(({ instrument }) => instrument), ...ofGroups.values()];
  const observe: Parameters<Meter['addBatchObservableCallback']>[0] = async (result) => {
    tables.refresh();
    for (const { read, instrument } of metrics) {
      read((value, labels) => result.observe(instrument, value, { ...labels, ...ofNode }));
    }
    await groups.read((name, value, labels) => {
      result.observe(ofGroups.get(name) as Observable, value, { ...labels, ...ofNode });
    });
  };
  meter.addBatchObservableCallback(observe, instruments);
  return () => meter.removeBatchObservableCallback(observe, instruments);
}

/** Names `quotamesh_refusals_total` `quotamesh.refusals`: exporters for Prometheus append `_total` again. */
function instrumentOf(meter: Meter, name: string, { type, help }: MetricRow): Observable {
  const options = { description: help, unit: unitOf(name) };
  const own = name.replace(/^quotamesh_/, 'quotamesh.').replace(/_total$/, '');
  return type === 'gauge' ? meter.createObservableGauge(own, options) : meter.createObservableCounter(own, options);
}

/** Returns the code of UCUM for a name's unit; '' = none. */
function unitOf(name: string): string {
  if (/_seconds(_total)?$/.test(name)) return 's';
  return /_bytes(_total)?$/.test(name) ? 'By' : '';
}
