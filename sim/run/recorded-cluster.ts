import type { ClusterUnderTest } from '../cluster/cluster-under-test.js';
import type { EventQueue } from '../cluster/event-queue.js';
import type { LimitColumn, Recording } from './recording.js';

/** Shows a recording's limits; takes no requests. */
export class RecordedCluster implements ClusterUnderTest {
  readonly name: string;
  readonly sent: ClusterUnderTest['sent'];
  readonly #queue: EventQueue;
  readonly #nodes: ReadonlyMap<string, RecordedNode>;

  constructor({ system, sent, limits }: Recording, nodes: readonly string[], queue: EventQueue) {
    this.name = system;
    this.sent = sent;
    this.#queue = queue;
    this.#nodes = new Map(nodes.map((node) => [node, new RecordedNode(limits.get(node) ?? NOTHING)]));
  }

  start(node: string): void {
    this.#of(node).isRunning = true;
  }

  crash(node: string): void {
    this.#of(node).end(this.#queue.nowMs);
  }

  leave(node: string): void {
    this.#of(node).end(this.#queue.nowMs);
  }

  stall(node: string, durationMs: number): void {
    this.#of(node).stalledUntilMs = this.#queue.nowMs + durationMs;
  }

  limitOf(node: string, dimension: 0 | 1): number {
    return this.#of(node).limitAt(this.#queue.nowMs)[dimension];
  }

  cutOff(): void {}
  setOutage(): void {}
  setFaults(): void {}
  setQuota(): void {}

  tryAcquire(): boolean {
    throw new Error('a recorded cluster decides nothing any more');
  }

  #of(node: string): RecordedNode {
    return this.#nodes.get(node) as RecordedNode;
  }
}

const NOTHING: LimitColumn = { atMs: [], limits: [] };
const CLOSED = [0, 0] as const;

class RecordedNode {
  isRunning = false;
  stalledUntilMs = 0;
  readonly #column: LimitColumn;
  /** Time before which limits were an earlier process's. */
  #sinceMs = -Infinity;
  #next = 0;

  constructor(column: LimitColumn) {
    this.#column = column;
  }

  end(nowMs: number): void {
    this.isRunning = false;
    this.#sinceMs = nowMs;
  }

  /** Returns limits; times must not fall. */
  limitAt(nowMs: number): readonly [number, number] {
    const { atMs, limits } = this.#column;
    while (this.#next < atMs.length && atMs[this.#next] <= nowMs) this.#next++;
    const last = this.#next - 1;
    if (!this.isRunning || nowMs < this.stalledUntilMs || last < 0 || atMs[last] < this.#sinceMs) return CLOSED;
    return limits[last];
  }
}
