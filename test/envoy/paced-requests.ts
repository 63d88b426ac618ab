import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';

const TICK_MS = 5;
/** Not pipelined: Envoy closes connections on which a request follows one that it refuses. */
const CONNECTIONS = 16;
const IN_FLIGHT_MAX = 64;
const SILENCE_MS = 50;

/** Requests of one tenant at a steady rate, whatever the answers are; at most a second's are sent to catch up. */
export class PacedRequests {
  /** Answers by status; 0 = none came. */
  readonly counts: Record<number, number> = {};
  perSecond: number;
  /** Milliseconds without an answer, of each pause what is beyond SILENCE_MS. */
  silentMs = 0;
  #answeredMs = performance.now();
  readonly #pool: Pool;
  readonly #tenant: string;
  #inFlight = 0;
  #isOver = false;
  readonly #running: Promise<void>;

  constructor(port: number, tenant: string, perSecond: number) {
    this.perSecond = perSecond;
    this.#tenant = tenant;
    this.#pool = new Pool(`http://127.0.0.1:${port}`, { connections: CONNECTIONS, pipelining: 1 });
    this.#running = this.#run();
  }

  get passed(): number {
    return this.counts[200] ?? 0;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
    await this.#pool.destroy();
  }

  async #run(): Promise<void> {
    let lastMs = performance.now();
    let due = 0;
    while (!this.#isOver) {
      await sleep(TICK_MS);
      const nowMs = performance.now();
      due = Math.min(this.perSecond, due + ((nowMs - lastMs) / 1000) * this.perSecond);
      lastMs = nowMs;
      for (; due >= 1 && this.#inFlight < IN_FLIGHT_MAX; due--) void this.#send();
    }
  }

  async #send(): Promise<void> {
    this.#inFlight++;
    const status = await this.#ask().catch(() => 0);
    this.counts[status] = (this.counts[status] ?? 0) + 1;
    const nowMs = performance.now();
    this.silentMs += Math.max(0, nowMs - this.#answeredMs - SILENCE_MS);
    this.#answeredMs = nowMs;
    this.#inFlight--;
  }

  async #ask(): Promise<number> {
    const headers = { 'x-tenant': this.#tenant };
    const { statusCode, body } = await this.#pool.request({ path: '/', method: 'GET', headers });
    await body.dump();
    return statusCode;
  }
}
