import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { Direction } from '../../core/base/vocabulary.js';
import type { MetricsPage } from '../http/status/info-routes.js';
import { GroupSeries } from './group-series.js';
import { type MetricSources, metricTables, type ReadableMetric } from './metric-tables.js';

/** Creates metrics with a registry of their own. An embedding program's stays apart. */
export function createMetrics(sources: MetricSources): MetricsPage {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const tables = metricTables(sources);
  for (const metric of tables.metrics) register(registry, metric);
  const groups = new GroupSeries(sources.node);
  const { exemplars } = sources;
  return {
    scrape: async (accept) => {
      tables.refresh();
      const text = (await registry.metrics()) + (await groups.text());
      if (!exemplars?.isFed || !prefersOpenMetrics(accept)) return { contentType: registry.contentType, text };
      return { contentType: OPEN_METRICS_TYPE, text: toOpenMetrics(text, exemplars) };
    },
  };
}

function register(registry: Registry, { name, type, help, labels, read }: ReadableMetric): void {
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

export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Refusals by a group's quota, per direction (admission-metrics.ts). */
const REFUSALS = /^quotamesh_refusals_total\{direction="(\w+)"\} \S+$/;

/**
 * Writes /metrics in OpenMetrics, the format with exemplars. It differs in counters' descriptions, escapes, empty lines
 * and the last line. *Why not prom-client:* it dates exemplars with the scrape, and lacks the series of groups
 * (group-series.ts).
 */
function toOpenMetrics(text: string, exemplars: RefusalExemplars): string {
  const lines = text.split('\n').filter((line) => line !== '');
  const counters = new Set(lines.flatMap((line) => /^# TYPE (\S+)_total counter$/.exec(line)?.[1] ?? []));
  const told = lines.map((line) => {
    if (line.startsWith('#')) return described(line, counters);
    const direction = REFUSALS.exec(line)?.[1];
    return direction === undefined ? line : line + exemplarOf(direction, exemplars);
  });
  return `${told.join('\n')}\n# EOF\n`;
}

/** Returns the format preferred by an Accept header. */
export function prefersOpenMetrics(accept: string | undefined): boolean {
  return weightOf(accept, 'application/openmetrics-text') > weightOf(accept, 'text/plain');
}

function described(line: string, counters: ReadonlySet<string>): string {
  const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
  const family = name.replace(/_total$/, '');
  const own = family !== name && counters.has(family) ? family : name;
  return `# ${kind} ${own} ${kind === 'HELP' ? rest.replaceAll('"', '\\"') : rest}`;
}

function exemplarOf(direction: string, exemplars: RefusalExemplars): string {
  const exemplar = exemplars.of(direction);
  if (exemplar === undefined) return '';
  const { traceId, spanId, atMs } = exemplar;
  return ` # {trace_id="${traceId}",span_id="${spanId}"} 1 ${(atMs / 1000).toFixed(3)}`;
}

/** Returns the greatest `q` of a media type in a header; 0 = none. */
function weightOf(accept: string | undefined, type: string): number {
  const weights = (accept ?? '').split(',').flatMap((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    if (name !== type) return [];
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    return [q === undefined ? 1 : Number(q.slice(2))];
  });
  return Math.max(0, ...weights);
}

/** Span of a refused request, in the form of exemplars. */
interface RefusalExemplar {
  readonly traceId: string;
  readonly spanId: string;
  /** Unix time of the refusal, ms. */
  readonly atMs: number;
}

/** Keeps the latest traced refusal per direction; filled by src/doors/opentelemetry, shown by /metrics. */
export class RefusalExemplars {
  /** True = an SDK records spans; else /metrics has one format only. */
  isFed = false;
  readonly #latest = new Map<Direction, RefusalExemplar>();

  note(direction: Direction, exemplar: RefusalExemplar): void {
    this.#latest.set(direction, exemplar);
  }

  of(direction: string): RefusalExemplar | undefined {
    return this.#latest.get(direction as Direction);
  }
}
