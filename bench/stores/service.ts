import { setTimeout as sleep } from 'node:timers/promises';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import type { Child } from '../../src/tools/processes/child.js';
import type { RedisServer } from '../../test/redis/redis.js';
import { type Collected, type Order, QUOTA } from './orders.js';

const WARM_MS = 2000;
const STEADY_MS = 6000;
const IDLE_MS = 3000;
const AWAY_MS = 3000;
const SECOND_MS = 1000;

type Note = (row: string, value: number) => void;

/** Processes of one system, and what is done to them. */
export class Service {
  readonly #processes: readonly Child[];
  readonly #redis: RedisServer;
  readonly #note: Note;

  constructor(processes: readonly Child[], redis: RedisServer, note: Note) {
    this.#note = note;
    this.#processes = processes;
    this.#redis = redis;
  }

  async measure(): Promise<void> {
    this.#rates(2000, 2000);
    await sleep(WARM_MS);
    await this.#collect();
    const even = await this.#steady(2000, 2000);
    this.#note('2 × 2,000/s: admitted, of the quota', even.total);
    this.#note('2 × 2,000/s: worst sliding second, of the quota', even.worst);
    this.#note('2 × 2,000/s: slowest decision, ms', even.worstLatencyMs);
    const uneven = await this.#steady(1600, 400);
    this.#note('1,600/s and 400/s: admitted, of the quota', uneven.total);
    this.#note('1,600/s and 400/s: worst sliding second, of the quota', uneven.worst);
    this.#note('1,600/s and 400/s: part of the smaller one admitted', uneven.smaller);
    await this.#pause();
    this.#tell(0, { kind: 'burst', requests: 3 * QUOTA });
    await sleep(SECOND_MS / 2);
    const burst = await this.#collect();
    this.#note('3,000 at once at one process after 3 s of rest: admitted in half a second', burst.grantedMs.length);
    await this.#pause();
    this.#tell(0, { kind: 'burst', requests: 1 });
    await sleep(SECOND_MS - 150);
    this.#tell(0, { kind: 'burst', requests: QUOTA });
    await sleep(300);
    this.#tell(1, { kind: 'burst', requests: QUOTA });
    await sleep(SECOND_MS / 2);
    const edge = await this.#collect();
    this.#note(
      "1,000 before and 1,000 behind a window's edge: most in a second, of the quota",
      worstSecond(edge.grantedMs),
    );
    this.#rates(1000, 1000);
    await sleep(WARM_MS);
    await this.#collect();
    await this.#redis.kill();
    await sleep(AWAY_MS);
    const away = await this.#collect();
    this.#note(
      'Redis killed for 3 s, 2 × 1,000/s: admitted, of the quota',
      (away.grantedMs.length * SECOND_MS) / AWAY_MS / QUOTA,
    );
    this.#note(
      'Redis killed for 3 s: requests that the limiter could not decide, of all',
      away.errors / Math.max(1, away.errors + away.refused + away.grantedMs.length),
    );
    await this.#redis.start();
    await sleep(AWAY_MS);
    await this.#collect();
    const back = await this.#steady(1000, 1000);
    this.#note('Redis back, empty, after 3 s: admitted, of the quota', back.total);
    this.#rates(0, 0);
  }

  async #steady(first: number, second: number) {
    this.#rates(first, second);
    await sleep(SECOND_MS);
    await this.#collect();
    const fromMs = epochNow();
    await sleep(STEADY_MS);
    const each = await this.#collectEach();
    const seconds = (epochNow() - fromMs) / SECOND_MS;
    const grantedMs = each.flatMap((one) => one.grantedMs);
    const smaller = each[1];
    return {
      total: grantedMs.length / seconds / QUOTA,
      worst: worstSecond(grantedMs),
      worstLatencyMs: Math.max(...each.map(({ worstLatencyMs }) => worstLatencyMs)),
      smaller: smaller.grantedMs.length / Math.max(1, smaller.grantedMs.length + smaller.refused + smaller.errors),
    };
  }

  async #pause(): Promise<void> {
    this.#rates(0, 0);
    await sleep(IDLE_MS);
    await this.#collect();
  }

  #rates(...perSecond: readonly number[]): void {
    perSecond.forEach((rate, at) => {
      this.#tell(at, { kind: 'rate', perSecond: rate });
    });
  }

  #tell(at: number, order: Order): void {
    this.#processes[at]?.send(order);
  }

  #collectEach(): Promise<Collected[]> {
    return Promise.all(this.#processes.map((each) => each.ask<Collected>({ kind: 'collect' } satisfies Order)));
  }

  async #collect(): Promise<Collected> {
    const each = await this.#collectEach();
    const sum = (of: (one: Collected) => number) => each.reduce((total, one) => total + of(one), 0);
    return {
      grantedMs: each.flatMap(({ grantedMs }) => grantedMs),
      refused: sum(({ refused }) => refused),
      errors: sum(({ errors }) => errors),
      worstLatencyMs: Math.max(...each.map(({ worstLatencyMs }) => worstLatencyMs)),
    };
  }
}

/** Most of any second, as a part of the quota. */
function worstSecond(grantedMs: readonly number[]): number {
  const sorted = Float64Array.from(grantedMs).sort();
  let worst = 0;
  for (let first = 0, behind = 0; first < sorted.length; first++) {
    while (behind < sorted.length && sorted[behind] < sorted[first] + SECOND_MS) behind++;
    worst = Math.max(worst, behind - first);
  }
  return worst / QUOTA;
}
