import { isMapping } from '../../src/base/input/mapping.js';
import { didYouMean } from '../../src/base/input/nearest-name.js';
import type { ConfigPath, Findings } from '../../src/config/setting/findings.js';
import { show } from '../../src/config/setting/setting-text.js';
import { SYSTEM_NAMES, shortName } from '../systems.js';
import { METRICS } from '../verdict/metric-table.js';
import { readFields } from './check-fields.js';
import type { Expectation } from './scenario.js';
import { BOUND_FIELDS } from './scenario-fields.js';

const METRIC_NAMES = METRICS.map(({ name }) => name);

/** System → bounds of its verdict. */
export function readExpectations(findings: Findings, input: unknown): ReadonlyMap<string, readonly Expectation[]> {
  const bySystem = new Map<string, readonly Expectation[]>();
  for (const [system, metrics] of entriesOf(findings, ['expect'], input, 'a mapping of system to bounds')) {
    const path = ['expect', system];
    if (!SYSTEM_NAMES.includes(shortName(system))) addUnknown(findings, path, SYSTEM_NAMES);
    const bounds = entriesOf(findings, path, metrics, 'a mapping of metric to bounds').map(([metric, bound]) => {
      if (!METRIC_NAMES.includes(metric)) addUnknown(findings, [...path, metric], METRIC_NAMES);
      return readBound(findings, [...path, metric], bound, metric);
    });
    bySystem.set(shortName(system), bounds);
  }
  return bySystem;
}

function readBound(findings: Findings, path: ConfigPath, input: unknown, metric: string): Expectation {
  const { atLeast = null, atMost = null, wished = null } = readFields(findings, path, input, BOUND_FIELDS);
  if (isMapping(input) && Object.keys(input).length === 0) {
    const allowed = 'atLeast, atMost, or both';
    findings.add(path, { problem: 'has no bound', allowed, remedy: 'Write { atMost: 1.1 }.' });
  }
  const expectation: Expectation = { metric, atLeast, atMost, wished };
  if (wished !== null && !isStricter(expectation, wished)) {
    const allowed = 'a bound stricter than the one beside it';
    const remedy = 'Write { atMost: 1.3, wished: 1.1 } or { atLeast: 0.9, wished: 0.99 }, with one bound.';
    findings.add([...path, 'wished'], { problem: `must be ${allowed}, got ${show(wished)}`, allowed, remedy });
  }
  return expectation;
}

function isStricter({ atLeast, atMost }: Expectation, wished: number): boolean {
  if (atLeast !== null) return atMost === null && wished > atLeast;
  return atMost !== null && wished < atMost;
}

function entriesOf(findings: Findings, path: ConfigPath, input: unknown, allowed: string): [string, unknown][] {
  if (input === undefined || input === null) return [];
  if (isMapping(input)) return Object.entries(input);
  const problem = `must be ${allowed}, got ${show(input)}`;
  findings.add(path, { problem, allowed, remedy: 'Indent the names below it.' });
  return [];
}

function addUnknown(findings: Findings, path: ConfigPath, known: readonly string[]): void {
  const allowed = known.join(', ');
  const remedy = didYouMean(String(path.at(-1)), known) || `Known here: ${allowed}.`;
  findings.add(path, { problem: 'is not a known name', allowed, remedy }, { part: 'key' });
}
