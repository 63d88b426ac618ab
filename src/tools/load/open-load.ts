import { Random } from '../../../sim/cluster/random.js';
import { playStream } from '../../../sim/load/play-arrivals.js';
import { CallColumn, type Outcome } from './call.js';
import { epochNow } from './epoch-now.js';
import type { LoadPlan, LoadStream } from './load-order.js';
import { NodeConnections } from './node-connections.js';
import { RealTimeQueue } from './real-time-queue.js';

/** Milliseconds; later arrivals would be a burst that nobody wanted. */
const MADE_UP_MS = 1000;

/** Runs an open load: sends every arrival in time, whatever became of others, and retries by its stream. */
export class OpenLoad {
  readonly #connections = new Map<string, NodeConnections>();
  readonly #queues = new Map<string, RealTimeQueue>();
  readonly #calls = new CallColumn();
  #underWay = 0;
  #onIdle: (() => void) | null = null;

  play(name: string, plan: LoadPlan): void {
    this.#queues.get(name)?.stop();
    const queue = new RealTimeQueue(plan.sinceMs);
    this.#queues.set(name, queue);
    for (const stream of plan.streams) this.#begin(queue, plan, stream);
  }

  /** Returns calls ended since the last time (call.ts). */
  collect(): Float64Array {
    return this.#calls.take();
  }

  async finish(): Promise<void> {
    for (const queue of this.#queues.values()) queue.stop();
    if (this.#underWay > 0)
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    for (const connections of this.#connections.values()) connections.close();
  }

  #begin(queue: RealTimeQueue, plan: LoadPlan, { tag, arrivals, group, urls }: LoadStream): void {
    const { piece, retries, retryAfterMs } = arrivals;
    const nodes = urls.map((url) => this.#connectionsTo(url, plan.patienceMs));
    const random = Random.stream(plan.seed, `${arrivals.id} retries`);
    let turn = 0;
    const attempt = (bytes: number, left: number, retry: boolean): void => {
      const [dueMs, sentMs] = [plan.sinceMs + queue.nowMs, epochNow()];
      const ended = (outcome: Outcome): void => {
        this.#calls.add({ tag, dueMs, sentMs, endedMs: epochNow(), outcome, bytes, retry });
        if (outcome === 'granted' || left === 0) return;
        queue.at(queue.clockMs + retryAfterMs * random.between(0.5, 1.5), () => attempt(bytes, left - 1, true));
      };
      if (sentMs - dueMs > MADE_UP_MS) {
        ended('unsent');
        return;
      }
      this.#underWay++;
      const node = nodes[turn++ % nodes.length];
      node.acquire({ group, messages: piece.messages, bytes, retry }, (outcome) => {
        ended(outcome);
        if (--this.#underWay === 0) this.#onIdle?.();
      });
    };
    const arrive = (_node: number, _messages: number, bytes: number): boolean => {
      attempt(bytes, retries, false);
      return true;
    };
    playStream(arrivals, { queue, seed: plan.seed, arrive });
  }

  #connectionsTo(url: string, patienceMs: number): NodeConnections {
    const known = this.#connections.get(url);
    if (known !== undefined) return known;
    const made = new NodeConnections(url, patienceMs);
    made.warmUp();
    this.#connections.set(url, made);
    return made;
  }
}
