import { didYouMean } from '../../src/base/input/nearest-name.js';
import type { ConfigPath, Findings } from '../../src/config/setting/findings.js';
import { show } from '../../src/config/setting/setting-text.js';
import { readFields, readList } from '../scenario/check-fields.js';
import type { Fields, ReadFields } from '../scenario/fields.js';
import { TARGET_GROUP_FIELDS } from './target-fields.js';
import type { GroupQuota } from './target-scenario.js';

/** Names that entries may use. */
export interface Known {
  readonly groups: readonly string[];
  readonly backends: readonly string[];
}

/** Reads quotas of groups, of the outermost list and phases. */
export function readQuotas(findings: Findings, path: ConfigPath, input: unknown): readonly GroupQuota[] {
  return readEntries(findings, path, input, TARGET_GROUP_FIELDS).map(({ at, values }) => {
    const cost = values.costPerSecond ?? Infinity;
    const reservedCost = values.reservedCostPerSecond;
    if (reservedCost > cost) {
      const allowed = `at most costPerSecond = ${cost}`;
      const problem = `must be ${allowed}, got ${reservedCost}`;
      findings.add([...at, 'reservedCostPerSecond'], { problem, allowed, remedy: 'Lower it, or raise costPerSecond.' });
    }
    const messages = values.messagesPerSecond ?? Infinity;
    return { name: values.name, messages, cost, reservedCost };
  });
}

export function readEntries<Own extends Fields>(
  findings: Findings,
  path: ConfigPath,
  input: unknown,
  fields: Own,
): readonly { readonly at: ConfigPath; readonly values: ReadFields<Own> }[] {
  return readList(findings, path, input, String(path.at(-1))).map((entry, index) => {
    const at = [...path, index];
    return { at, values: readFields(findings, at, entry, fields) };
  });
}

export function checkKnown(findings: Findings, at: ConfigPath, name: unknown, known: readonly string[]): void {
  if (typeof name !== 'string' || known.includes(name)) return;
  const allowed = `one of ${known.slice(0, 12).join(', ')}`;
  const remedy = didYouMean(name, known) || `There are ${known.slice(0, 12).join(', ')}.`;
  findings.add(at, { problem: `must be ${allowed}, got ${show(name)}`, allowed, remedy });
}
