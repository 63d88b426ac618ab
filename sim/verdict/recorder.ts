import { ReferenceBucket } from './spans.js';

export const BIN_MS = 10;
export const TICK_MS = 20;

/** Columns per sample, in units; a node's row = [node · samples, (node + 1) · samples). */
export interface Columns {
  readonly demand: Float64Array;
  readonly admitted: Float64Array;
  readonly refused: Float64Array;
  /** Units that fair shares would have admitted. */
  readonly fair: Float64Array;
  readonly limit: Float64Array;
  readonly quota: Float64Array;
  /** Units of the whole cluster, by bin of 10 ms. */
  readonly binAdmitted: Float64Array;
  readonly binGranted: Float64Array;
}

export interface CommonBucket {
  readonly tokens: number;
  readonly depth: number;
  readonly setPoint: number;
  readonly correctionPerSecond: number;
  readonly charged: readonly { readonly nodeId: string; readonly units: number }[];
}

/** Records a run in columns, without allocations per arrival. */
export class Recorder {
  readonly samples: number;
  readonly sampleMs: number;
  readonly columns: readonly [Columns, Columns];
  /** Distance of limits from fair shares, by tick. */
  readonly errors: Float64Array;
  /** First attempts at nodes below their fair share. */
  readonly belowFair = { asked: 0, refused: 0 };
  readonly isBelowFair: Uint8Array;
  readonly buckets: readonly [ReferenceBucket, ReferenceBucket];
  readonly commonBuckets: readonly [(CommonBucket | null)[], (CommonBucket | null)[]];
  readonly durationMs: number;

  constructor(nodes: number, durationMs: number, quota: readonly [number, number]) {
    this.durationMs = durationMs;
    this.sampleMs = sampleMsFor(durationMs);
    this.samples = Math.ceil(durationMs / this.sampleMs);
    const bins = Math.ceil(durationMs / BIN_MS);
    this.columns = [createColumns(nodes, this.samples, bins), createColumns(nodes, this.samples, bins)];
    this.errors = new Float64Array(Math.ceil(durationMs / TICK_MS));
    this.isBelowFair = new Uint8Array(nodes);
    const unknown = () => new Array<CommonBucket | null>(this.samples).fill(null);
    this.commonBuckets = [unknown(), unknown()];
    this.buckets = [new ReferenceBucket(quota[0]), new ReferenceBucket(quota[1])];
  }

  attempted(nowMs: number, node: number, messages: number, bytes: number, retry: boolean, admitted: boolean): void {
    if (nowMs >= this.durationMs) return;
    const cell = node * this.samples + Math.floor(nowMs / this.sampleMs);
    this.#count(0, nowMs, cell, messages, retry, admitted);
    if (bytes > 0) this.#count(1, nowMs, cell, bytes, retry, admitted);
    if (retry || this.isBelowFair[node] === 0) return;
    this.belowFair.asked += messages;
    if (!admitted) this.belowFair.refused += messages;
  }

  granted(nowMs: number, quota: readonly [number, number]): void {
    for (const dimension of [0, 1] as const) {
      const { binGranted, quota: column } = this.columns[dimension];
      const perSecond = quota[dimension];
      column[Math.floor(nowMs / this.sampleMs)] = perSecond;
      const first = nowMs / BIN_MS;
      binGranted.fill((perSecond * BIN_MS) / 1000, first, first + TICK_MS / BIN_MS);
    }
  }

  #count(dimension: 0 | 1, nowMs: number, cell: number, amount: number, retry: boolean, admitted: boolean): void {
    const columns = this.columns[dimension];
    if (!retry) columns.demand[cell] += amount;
    if (!admitted) {
      columns.refused[cell] += amount;
      return;
    }
    columns.admitted[cell] += amount;
    columns.binAdmitted[Math.floor(nowMs / BIN_MS)] += amount;
    this.buckets[dimension].take(amount, nowMs);
  }
}

/** Returns milliseconds per sample: some 1,200, whole ones per second. */
function sampleMsFor(durationMs: number): number {
  if (durationMs <= 120_000) return 100;
  return durationMs <= 600_000 ? 500 : 1000;
}

function createColumns(nodes: number, samples: number, bins: number): Columns {
  const column = (length: number) => new Float64Array(length);
  return {
    demand: column(nodes * samples),
    admitted: column(nodes * samples),
    refused: column(nodes * samples),
    fair: column(nodes * samples),
    limit: column(nodes * samples),
    quota: column(samples),
    binAdmitted: column(bins),
    binGranted: column(bins),
  };
}
