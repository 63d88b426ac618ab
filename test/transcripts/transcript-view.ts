import type { SimulatedNode } from '../../sim/cluster/simulated-node.js';
import { MESSAGES } from '../../src/core/base/vocabulary.js';
import { bucketNow } from '../../src/core/machine/bucket-now.js';
import { LANE, SLOT, type TranscriptCluster } from './transcript-cluster.js';

const BAR_WIDTH = 20;
/** Figures that are counted over a span: a message more or less is no change. */
const COUNTED = ['demand', 'usage'];

type Figures = Readonly<Record<string, number>>;

/** What a reader of a transcript is told: what nodes noticed and what they hold, as far as it has changed. */
export class TranscriptView {
  readonly #cluster: TranscriptCluster;
  readonly #told = new Map<string, Figures>();
  readonly #noticesTold = new Map<SimulatedNode, number>();

  constructor(cluster: TranscriptCluster) {
    this.#cluster = cluster;
  }

  /** Since the last call. */
  changes(): string[] {
    const nodes = this.#cluster.nodes();
    const { target } = this.#cluster;
    return [
      ...nodes.flatMap(([name, node]) => this.#notices(name, node)),
      ...(target === null ? [] : this.#changed('target', { target }, `target ${target}`)),
      ...nodes.flatMap(([name, node]) => this.#figures(name, node)),
    ];
  }

  #notices(name: string, node: SimulatedNode): string[] {
    const told = this.#noticesTold.get(node) ?? 0;
    this.#noticesTold.set(node, node.notices.length);
    const fresh = node.notices.slice(told).map(({ atMs, notice }) => {
      const who = 'nodeId' in notice && notice.nodeId !== null ? ` ${notice.nodeId}` : '';
      return `${Math.round(atMs)} ms ${notice.kind}${who}`;
    });
    return fresh.length === 0 ? [] : [`${name}  ${fresh.join(' · ')}`];
  }

  #figures(name: string, node: SimulatedNode): string[] {
    if (!node.isRunning) return this.#changed(name, { gone: 1 }, `${name}  gone`);
    const share = Math.round(node.coordinator.shares.applied[SLOT]);
    const isConfirmed = node.nowMs <= node.limiter.validUntilMs.at(LANE);
    const limit = isConfirmed ? Math.round(node.limiter.buckets.rate.at(SLOT)) : 0;
    const bucket = bucketNow(node.coordinator, LANE, MESSAGES, node.nowMs);
    const held = bucket === null ? { limit } : { tokens: Math.round(bucket.tokens) };
    const figures = { ...this.#cluster.ratesOf(name), share, ...held };
    const shown = Object.entries(figures).map(([of, value]) => `${of} ${textOf(value)}`);
    return this.#changed(name, figures, `${name}  ${shown.join('  ')}  ${barOf(share / this.#cluster.quota)}`);
  }

  /** The line, if a figure differs from what was told by more than counting whole messages explains. */
  #changed(of: string, figures: Figures, line: string): string[] {
    const told = this.#told.get(of);
    const oneMessage = Math.ceil(1500 / this.#cluster.ranMs);
    const isSame = ([name, value]: [string, number]) => {
      const before = told?.[name] ?? Number.NaN;
      return before === value || Math.abs(before - value) <= (COUNTED.includes(name) ? oneMessage : 0);
    };
    if (told !== undefined && Object.entries(figures).every(isSame)) return [];
    this.#told.set(of, figures);
    return [line];
  }
}

function textOf(figure: number): string {
  return (Number.isFinite(figure) ? String(figure) : 'none').padStart(5);
}

function barOf(part: number): string {
  return '#'.repeat(Math.round(BAR_WIDTH * Math.min(1, part))).padEnd(BAR_WIDTH, '.');
}
