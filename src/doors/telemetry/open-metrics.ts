import type { RefusalExemplars } from './refusal-exemplars.js';

export const OPEN_METRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** Refusals by a group's quota, per direction (admission-readings.ts). */
const REFUSALS = /^quotamesh_refusals_total\{direction="(\w+)"\} \S+$/;

/**
 * Writes /metrics in OpenMetrics, the format with exemplars. It differs in counters' descriptions, escapes, empty lines
 * and the last line. *Why not prom-client:* it dates exemplars with the scrape, and lacks the series of groups
 * (group-series.ts).
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
