import { readFileSync } from 'node:fs';
import { readyScene } from '../unit/http/http-scene.js';
import { type Matcher, readQuery } from './promql.js';

/** What a scrape adds to every series. */
export const SCRAPE_LABELS = ['job', 'instance'];

/**
 * Metric → label → the values that a node has just exported. Ours are those of docs/reference/metrics.md, which comes from the code's
 * tables (test/unit/telemetry); those of the process are the scrape's.
 */
export type KnownMetrics = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

/** The metrics of a node without an MQTT broker, with the series of its groups; of the broker's, the labels alone. */
export async function knownMetrics(): Promise<KnownMetrics> {
  const known = new Map<string, Map<string, Set<string>>>([['up', new Map()]]);
  const table = readFileSync(new URL('../../docs/reference/metrics.md', import.meta.url), 'utf8');
  for (const [, name, labels] of table.matchAll(/^\| `(\w+)` \| \w+ \| (.*?) \|/gm)) {
    const all = [...labels.matchAll(/`(\w+)`/g)].map(([, label]) => label);
    known.set(name, new Map(all.map((label) => [label, new Set()])));
  }
  const scene = await readyScene({ metrics: { perGroup: 'all' } });
  const text = await scene.metrics.text();
  await scene.close();
  for (const [, name, labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const values = known.get(name) ?? new Map<string, Set<string>>();
    known.set(name, values);
    for (const [, label, value] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      values.set(label, (values.get(label) ?? new Set()).add(value));
    }
  }
  return known;
}

/** What an expression names that no node exports: metrics, labels, and values of labels. */
export function unknownIn(expression: string, known: KnownMetrics): string[] {
  const { selectors, groupingLabels } = readQuery(expression);
  const labels = new Set(SCRAPE_LABELS);
  const unknown = selectors.flatMap(({ metric, matchers }) => {
    const values = known.get(metric);
    if (values === undefined) return [metric];
    for (const label of values.keys()) labels.add(label);
    return matchers.filter((one) => !isKnown(one, values)).map(({ label, value }) => `${metric}{${label}="${value}"}`);
  });
  return [...unknown, ...groupingLabels.filter((label) => !labels.has(label))];
}

function isKnown({ label, value }: Matcher, values: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  if (SCRAPE_LABELS.includes(label)) return true;
  const exported = values.get(label);
  if (exported === undefined) return false;
  // A variable of the dashboard, or labels that are known without a node that has them.
  const isOpen = value.includes('$') || exported.size === 0 || FREE_LABELS.includes(label);
  return isOpen || value.split('|').every((one) => exported.has(one));
}

/** Their values are the user's. */
const FREE_LABELS = ['group', 'topic', 'cluster', 'node'];
