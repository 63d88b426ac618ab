import type { Findings } from '../setting/findings.js';
import { formatQuantity } from '../setting/quantity.js';
import { valueAt } from '../setting/setting-value.js';

/** Checks what must hold between settings. Settings that have a mistake of their own are left out. */
export function checkRelations(read: Readonly<Record<string, unknown>>, written: unknown, findings: Findings): void {
  const isGiven = (path: string) => (valueAt(written, path) ?? null) !== null;
  for (const relation of RELATIONS) {
    const { left, factor, right, because } = relation;
    const [value, other] = [valueAt(read, left), valueAt(read, right)];
    if (typeof value !== 'number' || typeof other !== 'number' || value >= factor * other) continue;
    const allowed = `${boundText(relation)} = ${formatQuantity('duration', factor * other)}`;
    const got = `${formatQuantity('duration', value)}${isGiven(left) ? '' : ' (the default)'}`;
    const problem = `must be ${allowed}, got ${got}: otherwise ${because}`;
    const writtenAt = (isGiven(left) || !isGiven(right) ? left : right).split('.');
    findings.add(left.split('.'), { problem, allowed, remedy: `Raise ${left} or lower ${right}.` }, { writtenAt });
  }
}

/** States that `left` is at least `factor` times `right`. Ranges of single settings are in their rows. */
interface Relation {
  /** YAML paths of durations. */
  readonly left: string;
  readonly factor: number;
  readonly right: string;
  /** Why: completes "otherwise …". */
  readonly because: string;
}

export const RELATIONS: readonly Relation[] = [
  {
    left: 'timing.stalenessMs',
    factor: 3,
    right: 'timing.heartbeatMs',
    because: 'a slow heartbeat would pass for death',
  },
  {
    left: 'timing.reportGapMs',
    factor: 1,
    right: 'sampleIntervalMs',
    because: 'reports would be due while there is nothing new to say',
  },
  {
    left: 'timing.stalenessMs',
    factor: 12.5,
    right: 'sampleIntervalMs',
    because: 'rounds confirm shares for four fifths of it, and a few late rounds would refuse everything',
  },
];

/** `at least 3 × timing.heartbeatMs`. */
export function boundText({ factor, right }: Relation): string {
  return `at least ${factor === 1 ? '' : `${factor} × `}${right}`;
}
