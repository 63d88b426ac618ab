/** What must hold between settings. Ranges of single settings are in the settings table. */
export interface Relation {
  /** YAML paths of durations; a path that the configuration does not have (another topic kind) makes the rule void. */
  readonly left: string;
  readonly operator: '≥' | '<' | '>';
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
    left: 'timing.shareValidMs',
    operator: '<',
    factor: 1,
    right: 'timing.stalenessMs',
    because: 'a node that slept would go on admitting after the others have taken its share',
  },
  {
    left: 'timing.isolationAfterMs',
    operator: '≥',
    factor: 2,
    right: 'timing.heartbeatMs',
    because: 'one late echo would pass for isolation',
  },
  {
    left: 'timing.isolationAfterMs',
    operator: '<',
    factor: 1,
    right: 'timing.stalenessMs',
    because: 'the others would take the share of a node that does not know yet that it is cut off',
  },
  {
    left: 'timing.partitionHeartbeatMs',
    operator: '≥',
    factor: 1,
    right: 'timing.heartbeatMs',
    because: 'the partitions without membership would carry more signs of life than the one with it',
  },
  {
    left: 'timing.fastSpanMs',
    operator: '≥',
    factor: 2,
    right: 'sampleIntervalMs',
    because: 'a rate over fewer than two samples would be mostly noise',
  },
  {
    left: 'timing.slowSpanMs',
    operator: '>',
    factor: 1,
    right: 'timing.fastSpanMs',
    because: 'the slow span would not be the steadier one',
  },
  {
    left: 'timing.reportGapMs',
    operator: '≥',
    factor: 1,
    right: 'sampleIntervalMs',
    because: 'reports would be due while there is nothing new to say',
  },
  {
    left: 'timing.shareValidMs',
    operator: '≥',
    factor: 10,
    right: 'sampleIntervalMs',
    because: 'rounds confirm the shares, and a few late rounds would refuse everything',
  },
  {
    left: 'timing.forcedReportMs',
    operator: '≥',
    factor: 1,
    right: 'timing.heartbeatMs',
    because: 'every sign of life would re-send every group',
  },
  {
    left: 'timing.forgetAfterMs',
    operator: '≥',
    factor: 2,
    right: 'timing.stalenessMs',
    because: 'records of a node that is only slow would be freed',
  },
  {
    left: 'topic.appendTimeoutMs',
    operator: '≥',
    factor: 1,
    right: 'topic.requestTimeoutMs',
    because: 'an append would be given up while its request still runs, and the next one would overtake it',
  },
  {
    left: 'topic.requestTimeoutMs',
    operator: '>',
    factor: 1,
    right: 'topic.fetchMaxWaitMs',
    because: 'Kafka may hold an answer back for that long, and an idle topic would pass for a dead one',
  },
  {
    left: 'timing.isolationAfterMs',
    operator: '≥',
    factor: 2,
    right: 'topic.fetchMaxWaitMs',
    because: 'a node reads its own echo up to that late and would take itself for isolated',
  },
];

export function holds({ operator, factor }: Relation, left: number, right: number): boolean {
  const bound = factor * right;
  if (operator === '≥') return left >= bound;
  if (operator === '>') return left > bound;
  return left < bound;
}

/** `at least 3 × timing.heartbeatMs`. */
export function boundText({ operator, factor, right }: Relation): string {
  const words = { '≥': 'at least', '>': 'more than', '<': 'less than' } as const;
  return `${words[operator]} ${factor === 1 ? '' : `${factor} × `}${right}`;
}
