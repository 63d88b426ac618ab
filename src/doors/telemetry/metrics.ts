import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { GroupSeries } from './group-series.js';
import { type MetricSources, MetricTables, type ReadableMetric } from './metric-tables.js';
import { OPEN_METRICS_TYPE, prefersOpenMetrics, toOpenMetrics } from './open-metrics.js';

export interface Metrics {
  text(): Promise<string>;
  /** Writes all metrics in the format that a scraper prefers. */
  scrape(accept: string | undefined): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** Creates metrics with a registry of their own, apart from an embedding program's. */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const tables = new MetricTables(sources);
  for (const metric of tables.metrics) register(registry, metric);
  const groups = new GroupSeries(sources.node);
  const text = async () => {
    tables.refresh();
    return (await registry.metrics()) + (await groups.text());
  };
  const { exemplars } = sources;
  return {
    text,
    scrape: async (accept) => {
      if (!exemplars?.isFed || !prefersOpenMetrics(accept)) {
        return { contentType: registry.contentType, text: await text() };
      }
      return { contentType: OPEN_METRICS_TYPE, text: toOpenMetrics(await text(), exemplars) };
    },
  };
}

function register(registry: Registry, { name, row: { type, help, labels = [] }, read }: ReadableMetric): void {
  const options = { name, help, labelNames: labels, registers: [registry] };
  if (type === 'gauge') {
    const gauge = new Gauge({
      ...options,
      collect: () => {
        gauge.reset();
        let hasSeries = false;
        read((value, given = {}) => {
          hasSeries = true;
          gauge.set(given, value);
        });
        // Reset leaves a gauge without labels at 0, which would be a figure.
        if (!hasSeries && labels.length === 0) gauge.remove();
      },
    });
  } else {
    // The node counts; the registry repeats its sums.
    const counter = new Counter({
      ...options,
      collect: () => {
        counter.reset();
        read((value, given = {}) => counter.inc(given, value));
      },
    });
  }
}
