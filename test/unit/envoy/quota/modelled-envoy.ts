import { Random } from '../../../../sim/cluster/random.js';
import { directionIndex, laneOf } from '../../../../src/core/base/vocabulary.js';
import { type BucketAction, BucketBook, TTL_MS } from '../../../../src/doors/envoy/quota/bucket-book.js';
import type { BucketId } from '../../../../src/doors/envoy/quota/bucket-id.js';
import type { WholeNode } from '../../../whole-node.js';
import { ModelledBucket } from './modelled-bucket.js';

const REPORT_MS = 5000;
const TICK_MS = 250;

/** An Envoy that asks for a bucket `wish` times a second by chance, and reports every 5 s since its first request. */
export class ModelledEnvoy {
  admitted = 0;
  wish: number;
  isCutOff = false;
  /** Requests come together, once in so long; 0 = each by itself. */
  clumpMs = 0;
  readonly book: BucketBook;
  readonly #buckets = new Map<string, ModelledBucket>();
  readonly #random: Random;
  readonly #id: BucketId;
  #nowMs = 0;
  #nextMs: number;
  #reportMs = Infinity;
  #tickMs = 0;

  constructor(node: WholeNode, name: string, wish: number, firstMs = 0, group = 'orders') {
    this.wish = wish;
    this.#id = { group };
    this.#nextMs = firstMs;
    this.#random = Random.stream(7, name);
    const targetOf = ({ group: of = '' }: BucketId) => {
      return {
        kind: 'lane',
        lane: laneOf(node.gate.groupIndex(of), directionIndex('publish')),
      } as const;
    };
    const { enforcers } = node;
    this.book = new BucketBook({ enforcers, enforcer: name, life: 1, targetOf, bucketsMax: 100 });
  }

  async turn(turnMs: number): Promise<void> {
    const endMs = this.#nowMs + turnMs;
    const atMs = () => (this.clumpMs === 0 ? this.#nextMs : Math.ceil(this.#nextMs / this.clumpMs) * this.clumpMs);
    for (; atMs() <= endMs; this.#nextMs += this.#random.exponential(1000 / this.wish)) this.#ask(atMs());
    this.#nowMs = endMs;
    if (endMs >= this.#reportMs) {
      this.#report(endMs);
      this.#reportMs += REPORT_MS;
    }
    if (endMs >= this.#tickMs) {
      this.#tickMs = endMs + TICK_MS;
      this.#apply(this.book.actions(endMs), endMs);
    }
  }

  #ask(nowMs: number): void {
    const text = JSON.stringify(this.#id);
    let bucket = this.#buckets.get(text);
    const isFirst = bucket === undefined;
    bucket ??= new ModelledBucket();
    this.#buckets.set(text, bucket);
    if (bucket.ask(nowMs)) this.admitted++;
    if (!isFirst) return;
    this.#report(nowMs);
    if (this.#reportMs === Infinity) this.#reportMs = nowMs + REPORT_MS;
  }

  #report(nowMs: number): void {
    const usages = [...this.#buckets].map(([text, { allowed, denied }]) => ({ id: JSON.parse(text), allowed, denied }));
    for (const bucket of this.#buckets.values()) Object.assign(bucket, { allowed: 0, denied: 0 });
    if (this.isCutOff) return;
    this.book.begin(nowMs);
    this.#apply(this.book.report(usages, nowMs), nowMs);
  }

  #apply(actions: readonly BucketAction[], nowMs: number): void {
    for (const { id, assignment } of actions) {
      if (this.isCutOff) continue;
      const text = JSON.stringify(id);
      if (assignment === null) this.#buckets.delete(text);
      else this.#buckets.get(text)?.assign(assignment, TTL_MS, nowMs);
    }
  }
}
