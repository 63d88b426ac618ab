import type { RefusalExemplars } from './refusal-exemplars.js';

export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Refused for a group's quota, by direction (admission-readings.ts). */
const REFUSALS = /^quotamesh_refusals_total\{direction="(\w+)"\} \S+$/;

/**
 * The text of /metrics in OpenMetrics, the one format that has exemplars. The two differ in how a counter is described,
 * in the escapes of descriptions, in empty lines and in the last line.
 *
 * Not by the registry of prom-client, which has exemplars too: it dates them with the scrape instead of the refusal, so
 * that each scrape would tell a new one; and half of the series are not in it (group-series.ts).
 */
export function toOpenMetrics(text: string, exemplars: RefusalExemplars): string {
  const lines = text.split('\n').filter((line) => line !== '');
  const counters = new Set(lines.flatMap((line) => /^# TYPE (\S+)_total counter$/.exec(line)?.[1] ?? []));
  const told = lines.map((line) => {
    if (line.startsWith('#')) return described(line, counters);
    const direction = REFUSALS.exec(line)?.[1];
    return direction === undefined ? line : line + exemplarOf(direction, exemplars);
  });
  return `${told.join('\n')}\n# EOF\n`;
}

/** What a scraper would rather have, by its Accept: Prometheus lists both formats, with what it prefers. */
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

/** The greatest `q` that a header names a media type with; 0 where it does not. */
function weightOf(accept: string | undefined, type: string): number {
  const weights = (accept ?? '').split(',').flatMap((item) => {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim().toLowerCase());
    if (name !== type) return [];
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    return [q === undefined ? 1 : Number(q.slice(2))];
  });
  return Math.max(0, ...weights);
}
