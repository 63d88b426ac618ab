import { finiteOrNull } from '../../src/core/base/shown-rates.js';
import type { DimensionSeries, NodeSeries } from '../verdict/run-result.js';

const SAMPLES_MAX = 2400;
const DIMENSIONS = ['messages', 'bytes'] as const;

/** Amounts per sample (limits: the rate at its end) of one node in one dimension. */
interface Columns {
  readonly demand: Float64Array;
  readonly admitted: Float64Array;
  readonly refused: Float64Array;
  readonly limit: Float64Array;
}

/**
 * Series of a replay whose length nobody knows beforehand: 100 ms per sample, and whenever 2,400 samples are full, two
 * become one. So what a replay leaves behind is bounded, however long it is: 10 nodes and 2 dimensions take 1.5 MB.
 */
export class FoldingSeries {
  sampleMs = 100;
  #samples = 0;
  readonly #nodes: (readonly [Columns, Columns])[] = [];

  constructor(nodes: number) {
    for (let node = 0; node < nodes; node++) this.addNode();
  }

  /** A node that comes later has had nothing until now. */
  addNode(): void {
    this.#nodes.push([createColumns(), createColumns()]);
  }

  /** End of the sample that is being filled. */
  get endMs(): number {
    return (this.#samples + 1) * this.sampleMs;
  }

  count(node: number, messages: number, bytes: number, isAdmitted: boolean): void {
    this.want(node, messages, bytes);
    this.answer(node, messages, bytes, isAdmitted);
  }

  /** Work asks for the first time. */
  want(node: number, messages: number, bytes: number): void {
    this.#add(node, 'demand', messages, bytes);
  }

  /** Work has its answer, which may come later than the question. */
  answer(node: number, messages: number, bytes: number, isAdmitted: boolean): void {
    this.#add(node, isAdmitted ? 'admitted' : 'refused', messages, bytes);
  }

  /** The sample is over. */
  end(limitOf: (node: number, dimension: 0 | 1) => number): void {
    this.#nodes.forEach((dimensions, node) => {
      dimensions[0].limit[this.#samples] = limitOf(node, 0);
      dimensions[1].limit[this.#samples] = limitOf(node, 1);
    });
    this.#samples++;
    if (this.#samples === SAMPLES_MAX) this.#fold();
  }

  /**
   * Rates per second of the file, in which there are `speed` seconds to each of the samples'; dimensions without any
   * demand are left out, but for the messages.
   */
  series(names: readonly string[], quota: readonly [number, number], speed = 1): DimensionSeries[] {
    return DIMENSIONS.flatMap((dimension, at) => {
      const perNode = names.map((name, node) => {
        return [name, this.#seriesOf(this.#nodes[node]?.[at], speed)] as const;
      });
      const isAsked = perNode.some(([, { demand }]) => demand.some((rate) => rate > 0));
      if (at > 0 && !isAsked) return [];
      const quotaColumn = new Array<number | null>(this.#samples).fill(finiteOrNull(quota[at]));
      return [{ dimension, quota: quotaColumn, perNode: Object.fromEntries(perNode) }];
    });
  }

  #seriesOf({ demand, admitted, refused, limit }: Columns, speed: number): NodeSeries {
    const rates = (column: Float64Array) => {
      return Array.from(column.subarray(0, this.#samples), (amount) => (amount * 1000) / (this.sampleMs * speed));
    };
    return {
      demand: rates(demand),
      admitted: rates(admitted),
      refused: rates(refused),
      limit: Array.from(limit.subarray(0, this.#samples), (rate) => finiteOrNull(rate / speed)),
    };
  }

  #add(node: number, kind: 'demand' | 'admitted' | 'refused', messages: number, bytes: number): void {
    const columns = this.#nodes[node];
    const at = this.#samples;
    columns[0][kind][at] = columns[0][kind][at] + messages;
    columns[1][kind][at] = columns[1][kind][at] + bytes;
  }

  #fold(): void {
    this.#samples /= 2;
    this.sampleMs *= 2;
    for (const dimensions of this.#nodes) {
      for (const { demand, admitted, refused, limit } of dimensions) {
        for (const column of [demand, admitted, refused]) foldSums(column, this.#samples);
        for (let at = 0; at < this.#samples; at++) limit[at] = limit[2 * at + 1];
      }
    }
  }
}

function createColumns(): Columns {
  const column = () => new Float64Array(SAMPLES_MAX);
  return { demand: column(), admitted: column(), refused: column(), limit: column() };
}

function foldSums(column: Float64Array, samples: number): void {
  for (let at = 0; at < samples; at++) column[at] = column[2 * at] + column[2 * at + 1];
  column.fill(0, samples);
}
