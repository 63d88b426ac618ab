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
