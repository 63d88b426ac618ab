import { didYouMean } from '../../src/base/input/nearest-name.js';
import type { ConfigPath, Findings } from '../../src/config/setting/findings.js';
import { show } from '../../src/config/setting/setting-text.js';
import { readFields, readKind, readList } from './check-fields.js';
import { LOAD_KINDS, type Load } from './load-kinds.js';

/** Names for checks of list entries. */
export interface Played {
  readonly nodes: readonly string[];
  readonly durationMs: number;
}

export function readLoads(findings: Findings, input: unknown, played: Played): readonly Load[] {
  const loads = readList(findings, ['load'], input, 'loads').map((entry, at): Load | null => {
    const path = ['load', at];
    const found = readKind(findings, path, entry, { key: 'kind', kinds: LOAD_KINDS });
    if (found === undefined) return null;
    const { kind, row } = found;
    const values = readFields(findings, path, entry, row.fields, ['kind']);
    checkSpan(findings, path, values);
    // The compiler does not see that the values are those of this kind.
    return { kind, nodes: readNodes(findings, path, values.nodes, played), values } as Load;
  });
  return loads.filter((load) => load !== null);
}

/** Reads nodes, which the scenario must have. */
export function readNodes(findings: Findings, path: ConfigPath, named: unknown, { nodes }: Played): readonly string[] {
  if (named === 'all') return nodes;
  const wanted = (named ?? []) as readonly string[];
  for (const name of wanted) {
    if (nodes.includes(name) || nodes.length === 0) continue;
    const allowed = `nodes of this scenario: ${nodes.join(', ')}`;
    const remedy = didYouMean(name, nodes) || `There are ${nodes.slice(0, 12).join(', ')}.`;
    findings.add([...path, 'nodes'], { problem: `must name ${allowed}, got ${show(name)}`, allowed, remedy });
  }
  return wanted;
}

function checkSpan(findings: Findings, path: ConfigPath, { fromSeconds, untilSeconds }: Load['values']): void {
  if (typeof fromSeconds !== 'number' || typeof untilSeconds !== 'number' || fromSeconds < untilSeconds) return;
  const allowed = `more than fromSeconds = ${fromSeconds}`;
  const problem = `must be ${allowed}, got ${untilSeconds}`;
  findings.add([...path, 'untilSeconds'], { problem, allowed, remedy: 'Raise untilSeconds or lower fromSeconds.' });
}
