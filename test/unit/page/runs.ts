import { Random } from '../../../sim/cluster/random.js';
import type { BucketSeries, DimensionSeries, RunResult, Verdict } from '../../../sim/verdict/run-result.js';

export interface RunShape {
  readonly system: string;
  readonly scenario?: string;
  readonly nodes: readonly string[];
  readonly seconds?: number;
  readonly happenings?: RunResult['happenings'];
  /** 1 = the nodes are held to their part of the quota at once; 0 = never. */
  readonly grip?: number;
  readonly seed?: number;
  /** The nodes have a bucket in common, which is in debt from 10 s on. */
  readonly tokens?: boolean;
}

const QUOTA = 1000;

/** Figures of a run as a system could leave them: the first node asks twice the quota from 10 s on. */
export function runOf({
  system,
  scenario = 'one node asks too much',
  nodes,
  grip = 1,
  tokens = false,
  ...rest
}: RunShape): RunResult {
  const { seconds = 60, happenings = [], seed = 7 } = rest;
  const samples = seconds * 10;
  const random = new Random(seed);
  const series = (scale: number, dimension: 'messages' | 'bytes'): DimensionSeries => ({
    dimension,
    quota: Array.from({ length: samples }, (_, at) => (at < samples * 0.7 ? QUOTA : QUOTA / 2) * scale),
    perNode: Object.fromEntries(
      nodes.map((node, at) => [node, columnsOf(at, nodes.length, samples, scale, grip, random)]),
    ),
    ...(tokens ? { bucket: bucketOf(nodes, samples, scale) } : {}),
  });
  return {
    scenario,
    seed,
    system,
    nodes,
    happenings,
    durationMs: seconds * 1000,
    sampleMs: 100,
    series: [series(1, 'messages'), series(512, 'bytes')],
    expectations: [],
    verdict: { ...VERDICT, overAdmission: 0.02 + (1 - grip) * 0.5, jain: 0.9 + grip / 10 },
  };
}

/** Nothing is known of the first second, and nobody has told anything in the second one. */
function bucketOf(nodes: readonly string[], samples: number, scale: number): BucketSeries {
  const column = (from: number, value: (at: number) => number) =>
    Array.from({ length: samples }, (_, at) => (at < from ? null : value(at)));
  return {
    tokens: column(10, (at) => (at > 100 ? -20 : 100) * scale),
    depth: column(10, () => 100 * scale),
    setPoint: column(10, () => 30 * scale),
    correction: column(10, (at) => (at > 100 ? -50 : 70) * scale),
    charged: Object.fromEntries(nodes.map((node, at) => [node, column(20, () => (at - 1) * scale)])),
  };
}

function columnsOf(index: number, count: number, samples: number, scale: number, grip: number, random: Random) {
  const noisy = (mean: number) => Math.max(0, mean * (0.85 + 0.3 * random.next())) * scale;
  const at = Array.from({ length: samples }, (_, sample) => sample);
  const mean = (sample: number) => (index === 0 && sample > 100 ? 2 * QUOTA : (0.8 * QUOTA) / count);
  const demand = at.map((sample) => noisy(mean(sample)));
  const limit = at.map((sample) => {
    const fair = index === 0 ? 0.3 * QUOTA : (0.9 * QUOTA) / count;
    const late = Math.min(1, Math.max(0, (sample - 100) / (20 / Math.max(grip, 0.01))));
    return scale * (QUOTA * (1 - late) + fair * late);
  });
  const admitted = demand.map((asked, sample) => Math.min(asked, limit[sample]));
  const refused = demand.map((asked, sample) => asked - admitted[sample]);
  return { demand, admitted, refused, limit };
}

const VERDICT: Verdict = {
  steadyError: 0.004,
  overAdmission: 0.02,
  worstSecond: 1.07,
  secondsOver: 0.4,
  overshootTokens: 12,
  utilisation: 0.994,
  refusedBelowFair: 0.001,
  convergenceMs: [180, 240, null],
  jain: 0.998,
  oscillation: 0.02,
  records: 12_345,
  bytes: 3_456_789,
};
