import { finiteOrNull } from '../../src/core/base/shown-rates.js';
import type { Columns, CommonBucket, Recorder } from '../verdict/recorder.js';
import type { DimensionSeries } from '../verdict/run-result.js';

/** Returns columns as rates; bytes only where there are any. */
export function seriesOf(recorder: Recorder, nodes: readonly string[]): readonly DimensionSeries[] {
  const [messages, bytes] = recorder.columns;
  const [ofMessages, ofBytes] = recorder.commonBuckets;
  const series = [{ ...dimensionOf('messages', messages, recorder, nodes), ...commonBucket(ofMessages, nodes) }];
  if (bytes.demand.some((amount) => amount > 0)) {
    series.push({ ...dimensionOf('bytes', bytes, recorder, nodes), ...commonBucket(ofBytes, nodes) });
  }
  return series;
}

function dimensionOf(
  dimension: DimensionSeries['dimension'],
  columns: Columns,
  { samples, sampleMs }: Recorder,
  nodes: readonly string[],
): DimensionSeries {
  const rowOf = (column: Float64Array, node: number) => column.subarray(node * samples, (node + 1) * samples);
  const perSecond = (column: Float64Array, node: number) =>
    Array.from(rowOf(column, node), (amount) => rounded((amount * 1000) / sampleMs));
  const perNode = nodes.map((name, node) => {
    const demand = perSecond(columns.demand, node);
    const admitted = perSecond(columns.admitted, node);
    const refused = perSecond(columns.refused, node);
    return [name, { demand, admitted, refused, limit: Array.from(rowOf(columns.limit, node), finite) }] as const;
  });
  return { dimension, quota: Array.from(columns.quota, finite), perNode: Object.fromEntries(perNode) };
}

function commonBucket(
  samples: readonly (CommonBucket | null)[],
  nodes: readonly string[],
): Pick<DimensionSeries, 'bucket'> {
  if (samples.every((sample) => sample === null)) return {};
  const column = (read: (sample: CommonBucket) => number | undefined) =>
    samples.map((sample) => finite((sample && read(sample)) ?? Number.NaN));
  const chargedTo = (node: string) => column(({ charged }) => charged.find(({ nodeId }) => nodeId === node)?.units);
  return {
    bucket: {
      tokens: column(({ tokens }) => tokens),
      depth: column(({ depth }) => depth),
      setPoint: column(({ setPoint }) => setPoint),
      correction: column(({ correctionPerSecond }) => correctionPerSecond),
      charged: Object.fromEntries(nodes.map((node) => [node, chargedTo(node)])),
    },
  };
}

function finite(rate: number): number | null {
  return finiteOrNull(rounded(rate));
}

/** Rounds for pages and JSON. */
function rounded(rate: number): number {
  return Math.round(rate * 1000) / 1000;
}
