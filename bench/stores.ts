/**
 * `npm run bench:stores [-- ROUNDS]`: one quota of 1,000/s on two processes, by quotamesh on a Redis topic and by two
 * libraries that count in the same Redis. Rounds take turns; least, median and greatest of the rounds. The processes
 * make their own load, so nobody pays for HTTP; each has run under load for a second before anything is counted.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { epochNow } from '../src/load/epoch-now.js';
import { medianOf } from '../src/load/quantile.js';
import { Child } from '../src/processes/child.js';
import { type RedisServer, startRedis } from '../test/redis/redis.js';
import { type Collected, type Order, QUOTA, SYSTEMS, type System } from './stores/orders.js';

const ROUNDS = Number(process.argv[2] ?? 3);
const PROGRAM = fileURLToPath(new URL('stores/limited-process.js', import.meta.url));
const WARM_MS = 2000;
const STEADY_MS = 6000;
const IDLE_MS = 3000;
const AWAY_MS = 3000;
const SECOND_MS = 1000;

/** Per system and row: one value a round. */
const values = new Map<System, Map<string, number[]>>(SYSTEMS.map((system) => [system, new Map()]));

for (let round = 0; round < ROUNDS; round++) {
  const order = round % 2 === 0 ? SYSTEMS : SYSTEMS.toReversed();
  for (const system of order) await play(system);
}
for (const row of values.get('quotamesh')?.keys() ?? []) {
  process.stdout.write(`\n${row}: least, median, greatest of ${ROUNDS}\n`);
  for (const system of SYSTEMS) {
    const all = values.get(system)?.get(row) ?? [];
    const shown = [Math.min(...all), medianOf(all), Math.max(...all)].map((value) => value.toFixed(2).padStart(9));
    process.stdout.write(`${system.padEnd(26)}${shown.join('')}\n`);
  }
}

async function play(system: System): Promise<void> {
  const redis = await startRedis();
  const processes = ['a', 'b'].map((id) => new Child([PROGRAM, system, id, `${redis.port}`]));
  try {
    await Promise.all(processes.map((each) => each.next()));
    await new Service(system, processes, redis).measure();
  } finally {
    await Promise.all(processes.map((each) => each.stop(5000)));
    await redis.stop();
  }
}

class Service {
  readonly #system: System;
  readonly #processes: readonly Child[];
  readonly #redis: RedisServer;

  constructor(system: System, processes: readonly Child[], redis: RedisServer) {
    this.#system = system;
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
    const smaller = each[1] as Collected;
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

  #note(row: string, value: number): void {
    const rows = values.get(this.#system) as Map<string, number[]>;
    rows.set(row, [...(rows.get(row) ?? []), value]);
  }
}

/** Most of any second, as a part of the quota. */
function worstSecond(grantedMs: readonly number[]): number {
  const sorted = Float64Array.from(grantedMs).sort();
  let worst = 0;
  for (let first = 0, behind = 0; first < sorted.length; first++) {
    while (behind < sorted.length && (sorted[behind] as number) < (sorted[first] as number) + SECOND_MS) behind++;
    worst = Math.max(worst, behind - first);
  }
  return worst / QUOTA;
}
