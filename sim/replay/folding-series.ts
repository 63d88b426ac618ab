import { finiteOrNull } from '../../src/core/base/shown-rates.js';
import type { DimensionSeries, NodeSeries } from '../verdict/run-result.js';

const SAMPLES_MAX = 2400;
const DIMENSIONS = ['messages', 'bytes'] as const;

/** Amounts per sample of one node and dimension; limits: rate at its end. */
interface Columns {
  readonly demand: Float64Array;
  readonly admitted: Float64Array;
  readonly refused: Float64Array;
  readonly limit: Float64Array;
}

/** Folds a replay of unknown length: 100 ms per sample, pairs joined at 2,400. 10 nodes take 1.5 MB. */
export class FoldingSeries {
  sampleMs = 100;
  #samples = 0;
  readonly #nodes: (readonly [Columns, Columns])[] = [];

  constructor(nodes: number) {
    for (let node = 0; node < nodes; node++) this.addNode();
  }

  /** Adds a node without a past. */
  addNode(): void {
    this.#nodes.push([createColumns(), createColumns()]);
  }

  get endMs(): number {
    return (this.#samples + 1) * this.sampleMs;
  }

  count(node: number, messages: number, bytes: number, isAdmitted: boolean): void {
    this.want(node, messages, bytes);
    this.answer(node, messages, bytes, isAdmitted);
  }

  /** Counts work's first attempt. */
  want(node: number, messages: number, bytes: number): void {
    this.#add(node, 'demand', messages, bytes);
  }

  /** Counts an answer, which may come late. */
  answer(node: number, messages: number, bytes: number, isAdmitted: boolean): void {
    this.#add(node, isAdmitted ? 'admitted' : 'refused', messages, bytes);
  }

  /** Ends a sample. */
  end(limitOf: (node: number, dimension: 0 | 1) => number): void {
    this.#nodes.forEach((dimensions, node) => {
      dimensions[0].limit[this.#samples] = limitOf(node, 0);
      dimensions[1].limit[this.#samples] = limitOf(node, 1);
    });
    this.#samples++;
    if (this.#samples === SAMPLES_MAX) this.#fold();
  }

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
    columns[0][kind][at] += messages;
    columns[1][kind][at] += bytes;
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
