import { expect, test } from 'vitest';
import {
  type SuppressionRule,
  suppressAsForked,
  suppressAsReleased,
} from '../../../sim/baselines/pulsar/report-suppression.js';
import { type UsageCount, UsageReporter } from '../../../sim/baselines/pulsar/usage-reporter.js';
import { readVectors } from '../../vectors/read-vectors.js';

interface Params {
  readonly periodSec: number;
  readonly maxSuppressRounds: number;
  readonly tolerancePercent: number;
}

interface Usage {
  readonly current: number;
  readonly lastReported: number;
}

interface SuppressionCase {
  readonly id: string;
  readonly variant: string;
  readonly params: Params;
  readonly bytes: Usage;
  readonly msgs: Usage;
  readonly msSinceLastReport: number;
  readonly expected: boolean;
}

interface Counts {
  readonly bytes: number;
  readonly msgs: number;
}

interface Step extends Counts {
  readonly op: string;
  readonly decision: 'send' | 'suppress';
  readonly expect: {
    readonly numbersInMessage: boolean;
    readonly sinceLast: Counts;
    readonly totalReported: Counts;
    readonly lastReported: Counts;
  };
}

interface Sequence {
  readonly id: string;
  readonly steps?: readonly Step[];
  readonly usagePerRound?: readonly number[];
  readonly expectedSendRounds?: readonly number[];
}

const RULES: Readonly<Record<string, readonly SuppressionRule[]>> = {
  both: [suppressAsReleased, suppressAsForked],
  upstream: [suppressAsReleased],
  fork: [suppressAsForked],
};
const NEVER_SENT = -1;

const { cases, sequences, defaults } = readVectors<{
  readonly cases: readonly SuppressionCase[];
  readonly sequences: readonly Sequence[];
  readonly defaults: Params;
}>('report-suppression.json');

function rulesOf({ id, variant }: SuppressionCase): readonly SuppressionRule[] {
  const rules = RULES[variant];
  if (rules === undefined) throw new Error(`case ${id}: unknown variant "${variant}"`);
  return rules;
}

test.each(cases)('Pulsar reports: $id', (given) => {
  const { params, bytes, msgs, msSinceLastReport, expected } = given;
  const since = msSinceLastReport === NEVER_SENT ? Infinity : msSinceLastReport;
  for (const rule of rulesOf(given)) {
    expect(rule({ ...params, bytes, messages: msgs, msSinceLastReport: since })).toBe(expected);
  }
});

test.each(sequences)('Pulsar reports in sequence: $id', ({ id, steps, usagePerRound, expectedSendRounds }) => {
  if (steps !== undefined) return playSteps(steps);
  if (usagePerRound === undefined) throw new Error(`sequence ${id} has neither steps nor rounds`);
  for (const rule of RULES.both) {
    const reporter = new UsageReporter(rule, defaults);
    const sent = usagePerRound.flatMap((usage, round) => {
      reporter.add({ messages: usage, bytes: usage });
      return reporter.report((round + 1) * defaults.periodSec * 1000) === null ? [] : [round + 1];
    });
    expect(sent).toEqual(expectedSendRounds);
  }
});

/** The decision is given: what is checked is the counting around it. */
function playSteps(steps: readonly Step[]): void {
  let decision: Step['decision'] = 'suppress';
  const reporter = new UsageReporter(() => decision === 'send', defaults);
  const reported = { bytes: 0, msgs: 0 };
  for (const step of steps) {
    if (step.op === 'use') {
      reporter.add({ messages: step.msgs, bytes: step.bytes });
      continue;
    }
    expect(step.op).toBe('report');
    decision = step.decision;
    const sent = reporter.report(0);
    reported.bytes += sent?.bytes ?? 0;
    reported.msgs += sent?.messages ?? 0;
    expect(sent !== null).toBe(step.expect.numbersInMessage);
    expect(countsOf(reporter.sinceLast)).toEqual(step.expect.sinceLast);
    expect(countsOf(reporter.lastReported)).toEqual(step.expect.lastReported);
    expect(reported).toEqual(step.expect.totalReported);
  }
}

function countsOf({ bytes, messages }: UsageCount): Counts {
  return { bytes, msgs: messages };
}

test('every case and sequence of the file is run', () => {
  const runs = cases.flatMap((given) => rulesOf(given)).length;
  console.log(
    `report-suppression.json: ${cases.length} cases, ${runs} decisions by the two rules; ${sequences.length} sequences`,
  );
  expect(cases).toHaveLength(27);
  expect(sequences).toHaveLength(5);
});
