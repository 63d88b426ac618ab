import type { ConfigPath, Findings } from '../../src/config/setting/findings.js';
import { readFields, readKind, readList } from './check-fields.js';
import { HAPPENING_KINDS } from './happening-kinds.js';
import { type Played, readNodes } from './read-loads.js';
import type { Happening } from './scenario.js';

/** Reads happenings in time order; `everySeconds` makes one per node. */
export function readHappenings(findings: Findings, input: unknown, played: Played): readonly Happening[] {
  if (input === undefined || input === null) return [];
  const happenings = readList(findings, ['happenings'], input, 'happenings').flatMap((entry, at) => {
    const path = ['happenings', at];
    const found = readKind(findings, path, entry, { key: 'what', kinds: HAPPENING_KINDS });
    if (found === undefined) return [];
    const { kind: what, row } = found;
    const { fields } = row;
    const values = readFields(findings, path, entry, fields, ['what']);
    checkTime(findings, path, values.atSeconds, played);
    const atMs = Number(values.atSeconds) * 1000;
    const nodes = 'nodes' in fields ? readNodes(findings, path, values.nodes, played) : [];
    return oneByOne({ what, atMs, nodes, values });
  });
  return happenings.sort((one, other) => one.atMs - other.atMs);
}

function oneByOne(happening: Happening): readonly Happening[] {
  const everyMs = Number(happening.values.everySeconds ?? 0) * 1000;
  if (everyMs === 0) return [happening];
  return happening.nodes.map((node, at) => ({ ...happening, nodes: [node], atMs: happening.atMs + at * everyMs }));
}

function checkTime(findings: Findings, path: ConfigPath, atSeconds: unknown, { durationMs }: Played): void {
  if (typeof atSeconds !== 'number' || !(atSeconds * 1000 > durationMs)) return;
  const allowed = `before the end, ${durationMs / 1000} s`;
  const remedy = 'Raise durationSeconds, or let it happen earlier.';
  findings.add([...path, 'atSeconds'], { problem: `must be ${allowed}, got ${atSeconds}`, allowed, remedy });
}
