import { Random } from '../../../sim/cluster/random.js';
import { AttemptColumns } from './attempt-columns.js';
import { NodeConnections } from './node-connections.js';
import type { PlannedStream, TrafficPlan, TrafficReport } from './protocol.js';

/** Sends every arrival at its time, whatever became of those before, and refused ones again where the load says so. */
export function playPlan(plan: TrafficPlan): Promise<TrafficReport> {
  return new Promise((resolve) => new PlannedTraffic(plan, resolve).begin());
}

class PlannedTraffic {
  readonly #plan: TrafficPlan;
  readonly #connections: readonly NodeConnections[];
  readonly #retryRandoms: readonly Random[];
  readonly #columns = new AttemptColumns();
  readonly #lateMs: Float64Array;
  readonly #finished: (report: TrafficReport) => void;
  #next = 0;
  #open = 0;
  #missed = 0;

  constructor(plan: TrafficPlan, finished: (report: TrafficReport) => void) {
    this.#plan = plan;
    this.#finished = finished;
    this.#connections = plan.urls.map((url) => new NodeConnections(url));
    this.#retryRandoms = plan.streams.map(({ id }) => Random.stream(plan.seed, `${id} retries`));
    this.#lateMs = new Float64Array(plan.arrivals.atMs.length);
  }

  begin(): void {
    for (const connections of this.#connections) connections.warmUp();
    this.#sendDue();
  }

  #sendDue(): void {
    const { atMs, stream, bytes } = this.#plan.arrivals;
    for (; this.#next < atMs.length && atMs[this.#next]! <= this.#nowMs; this.#next++) {
      const at = this.#next;
      this.#lateMs[at] = this.#nowMs - atMs[at]!;
      this.#attempt(stream[at]!, bytes[at]!, this.#plan.streams[stream[at]!]!.retries, false);
    }
    const dueMs = this.#next < atMs.length ? atMs[this.#next]! : this.#plan.durationMs;
    if (this.#nowMs < dueMs || this.#next < atMs.length) setTimeout(() => this.#sendDue(), dueMs - this.#nowMs);
    else this.#finishWhenAnswered();
  }

  get #nowMs(): number {
    return performance.timeOrigin + performance.now() - this.#plan.beginsMs;
  }

  /** Counts when it was answered: then the node has just decided. */
  #attempt(stream: number, bytes: number, left: number, retry: boolean): void {
    const { node, messages } = this.#plan.streams[stream]!;
    const sentMs = this.#nowMs;
    this.#open++;
    this.#connections[node]!.acquire({ group: this.#plan.group, messages, bytes, retry }, (answer) => {
      this.#open--;
      const admitted = answer === 'admitted';
      const isAnswered = admitted || answer === 'refused';
      if (answer === 'late') this.#missed++;
      this.#columns.add({ atMs: isAnswered ? this.#nowMs : sentMs, node, messages, bytes, retry, admitted });
      if (!admitted && left > 0) this.#later(stream, bytes, left - 1);
    });
  }

  #later(stream: number, bytes: number, left: number): void {
    const { retryAfterMs } = this.#plan.streams[stream] as PlannedStream;
    const waitMs = retryAfterMs * this.#retryRandoms[stream]!.between(0.5, 1.5);
    if (this.#nowMs + waitMs >= this.#plan.durationMs) return;
    this.#open++;
    setTimeout(() => {
      this.#open--;
      this.#attempt(stream, bytes, left, true);
    }, waitMs);
  }

  #finishWhenAnswered(): void {
    if (this.#open > 0) {
      setTimeout(() => this.#finishWhenAnswered(), 20);
      return;
    }
    for (const connections of this.#connections) connections.close();
    const sorted = this.#lateMs.sort();
    const punctuality = {
      medianLateMs: sorted[sorted.length >> 1] ?? 0,
      worstLateMs: sorted.at(-1) ?? 0,
      missedRatio: this.#missed / Math.max(1, this.#columns.length),
    };
    this.#finished({ attempts: this.#columns.toAttempts(), punctuality });
  }
}
