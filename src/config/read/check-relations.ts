import type { Findings } from '../setting/findings.js';
import { formatQuantity } from '../setting/quantity.js';
import { valueAt } from '../setting/setting-value.js';

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

/** States what must hold between settings. Ranges of single settings are in their rows. */
export interface Relation {
  /** YAML paths of durations. */
  readonly left: string;
  readonly operator: '≥' | '<';
  readonly factor: number;
  readonly right: string;
  /** Why: completes "otherwise …". */
  readonly because: string;
}

export const RELATIONS: readonly Relation[] = [
  {
    left: 'timing.stalenessMs',
    operator: '≥',
    factor: 3,
    right: 'timing.heartbeatMs',
    because: 'a slow heartbeat would pass for death',
  },
  {
    left: 'timing.reportGapMs',
    operator: '≥',
    factor: 1,
    right: 'sampleIntervalMs',
    because: 'reports would be due while there is nothing new to say',
  },
  {
    left: 'timing.stalenessMs',
    operator: '≥',
    factor: 12.5,
    right: 'sampleIntervalMs',
    because: 'rounds confirm shares for four fifths of it, and a few late rounds would refuse everything',
  },
];

export function holds({ operator, factor }: Relation, left: number, right: number): boolean {
  return operator === '≥' ? left >= factor * right : left < factor * right;
}

/** `at least 3 × timing.heartbeatMs`. */
export function boundText({ operator, factor, right }: Relation): string {
  const words = { '≥': 'at least', '<': 'less than' } as const;
  return `${words[operator]} ${factor === 1 ? '' : `${factor} × `}${right}`;
}
