import type { Findings } from '../setting/findings.js';
import { formatQuantity } from '../setting/quantity.js';
import { valueAt } from '../setting/setting-value.js';
import { boundText, holds, RELATIONS, type Relation } from './relations.js';

/** Checks what must hold between settings. Settings that have a mistake of their own are left out. */
export function checkRelations(read: Readonly<Record<string, unknown>>, written: unknown, findings: Findings): void {
  for (const relation of RELATIONS) {
    const left = valueAt(read, relation.left);
    const right = valueAt(read, relation.right);
    if (typeof left !== 'number' || typeof right !== 'number' || holds(relation, left, right)) continue;
    addBroken(relation, { left, right, written }, findings);
  }
}

function addBroken(
  relation: Relation,
  { left, right, written }: { left: number; right: number; written: unknown },
  findings: Findings,
): void {
  const given = (path: string) => (valueAt(written, path) ?? null) !== null;
  const isDefault = given(relation.left) ? '' : ' (the default)';
  const bound = formatQuantity('duration', relation.factor * right);
  const got = formatQuantity('duration', left);
  const [change, counterChange] = relation.operator === '<' ? ['Lower', 'raise'] : ['Raise', 'lower'];
  const finding = {
    problem: `must be ${boundText(relation)} = ${bound}, got ${got}${isDefault}: otherwise ${relation.because}`,
    allowed: `${boundText(relation)} = ${bound}`,
    remedy: `${change} ${relation.left} or ${counterChange} ${relation.right}.`,
  };
  const writtenAt = (given(relation.left) || !given(relation.right) ? relation.left : relation.right).split('.');
  findings.add(relation.left.split('.'), finding, { writtenAt });
}
