import { type NodeColumns, oscillationOf, type SampleSpan, sumOf, worstJain } from './fairness.js';
import { BIN_MS, type Columns, type Recorder, TICK_MS } from './recorder.js';
import type { Verdict } from './run-result.js';
import { spansAbove, worstSpan } from './spans.js';
import { convergenceOf, steadySpans, type Unrest } from './steadiness.js';

interface Facts {
  readonly nodes: number;
  readonly settleMs: number;
  readonly records: number;
  readonly bytes: number;
}

const SECOND = 1000 / BIN_MS;
const SETTLED = { bound: 0.05, holdMs: 5000 };
const LOOK = 100 / BIN_MS;
const OVER = 1.01;
/** Units from which a fair share is more than chance. */
const LEAST_FAIR = 10;
const SPAN_MS_MIN = 2000;

/** Judges a run (docs/background/max-min-fairness.md), by its worst dimension. */
export function judge(recorder: Recorder, unrest: Unrest, { nodes, settleMs, records, bytes }: Facts): Verdict {
  const { sampleMs, durationMs, belowFair, buckets } = recorder;
  const spans = steadySpans(unrest, settleMs, durationMs)
    .map(({ fromMs, untilMs }) => ({ from: Math.ceil(fromMs / sampleMs), until: Math.floor(untilMs / sampleMs) }))
    .filter(({ from, until }) => (until - from) * sampleMs >= SPAN_MS_MIN);
  const limited = recorder.columns.filter(({ quota }) => quota.some((rate) => rate !== Infinity));
  const judged = limited.length > 0 ? limited : recorder.columns.slice(0, 1);
  const bins = judged.map(({ binAdmitted, binGranted }) => ({ admitted: binAdmitted, granted: binGranted }));
  const perNode = nodeColumnsOf(recorder.columns[0], nodes, recorder.samples);
  const swings = judged.map((columns) => {
    const granted = columns.quota.map((rate) => (rate * sampleMs) / 1000);
    return oscillationOf(nodeColumnsOf(columns, nodes, recorder.samples), granted, spans, 1000 / sampleMs);
  });
  return {
    steadyError: worstError(judged.map((columns) => steadyErrorOf(columns, recorder, nodes, spans))),
    overAdmission: Math.max(0, ...bins.map((column) => worstSpan(column, 5 * SECOND) - 1)),
    worstSecond: Math.max(...bins.map((column) => worstSpan(column, SECOND))),
    secondsOver: (Math.max(...bins.map((column) => spansAbove(column, SECOND, LOOK, OVER))) * 100) / 1000,
    overshootTokens: Math.max(...buckets.map(({ overshoot }) => overshoot)),
    utilisation: Math.min(...judged.map(utilisationOf)),
    refusedBelowFair: belowFair.asked === 0 ? 0 : belowFair.refused / belowFair.asked,
    convergenceMs: convergenceOf(recorder.errors, TICK_MS, unrest, SETTLED),
    jain: worstJain(perNode, spans, LEAST_FAIR),
    oscillation: Math.max(...swings),
    records,
    bytes,
  };
}

function utilisationOf({ admitted, fair }: Columns): number {
  const due = sumOf(fair, { from: 0, until: fair.length });
  return due === 0 ? 1 : sumOf(admitted, { from: 0, until: admitted.length }) / due;
}

/** Returns the error over steady samples in which demand was full; null = none. */
function steadyErrorOf(
  columns: Columns,
  { samples, sampleMs }: Recorder,
  nodes: number,
  spans: readonly SampleSpan[],
): number | null {
  let admitted = 0;
  let granted = 0;
  for (const { from, until } of spans) {
    for (let sample = from; sample < until; sample++) {
      const due = (columns.quota[sample] * sampleMs) / 1000;
      if (due === 0 || sumOfSample(columns.fair, nodes, samples, sample) < due * FILLED) continue;
      admitted += sumOfSample(columns.admitted, nodes, samples, sample);
      granted += due;
    }
  }
  return granted === 0 ? null : admitted / granted - 1;
}

const FILLED = 0.9999;

function sumOfSample(column: Float64Array, nodes: number, samples: number, sample: number): number {
  let total = 0;
  for (let node = 0; node < nodes; node++) total += column[node * samples + sample];
  return total;
}

function worstError(errors: readonly (number | null)[]): number | null {
  const known = errors.filter((error) => error !== null);
  return known.length === 0 ? null : known.reduce((worst, one) => (Math.abs(one) > Math.abs(worst) ? one : worst));
}

function nodeColumnsOf({ admitted, fair }: Columns, nodes: number, samples: number): readonly NodeColumns[] {
  return Array.from({ length: nodes }, (_, node) => {
    const [from, until] = [node * samples, (node + 1) * samples];
    return { admitted: admitted.subarray(from, until), fair: fair.subarray(from, until) };
  });
}
