import type { Limit, Limiter } from '../../../bench/race/contender.js';
import { PATIENCE_MS } from '../../../bench/race/figures.js';
import { type PlayClock, type Played, playSchedule } from '../../../bench/race/play-schedule.js';

export const LIMIT: Limit = { key: 'api', perSecond: 1000, burst: 100, nodes: 1 };

/** Time that passes only when everybody waits. */
export class VirtualClock implements PlayClock {
  #nowMs = 0;
  readonly #timers: { readonly atMs: number; readonly due: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  /** Work that takes so long, in which nothing else runs. */
  work(ms: number): void {
    this.#nowMs += ms;
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#timers.push({ atMs: this.#nowMs + ms, due: resolve }));
  }

  async until(done: Promise<unknown>): Promise<void> {
    let isDone = false;
    void done.finally(() => {
      isDone = true;
    });
    for (;;) {
      // Promises that follow from one another are settled before time goes on.
      await new Promise((resolve) => setImmediate(resolve));
      if (isDone) return;
      this.#timers.sort((one, other) => one.atMs - other.atMs);
      const next = this.#timers.shift();
      if (next === undefined) throw new Error('nobody waits for time, and it is not done');
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.due();
    }
  }
}

export async function playVirtually(
  dueMs: readonly number[],
  ask: (clock: VirtualClock) => boolean | Promise<boolean>,
): Promise<Played> {
  const clock = new VirtualClock();
  const limiter: Limiter = { ask: () => ask(clock), close: async () => undefined };
  const playing = playSchedule(Float64Array.from(dueMs), LIMIT.key, limiter, clock, PATIENCE_MS);
  await clock.until(playing);
  return playing;
}

/** So many per second, evenly, in the midst of their shares of it. */
export function evenly(perSecond: number, seconds: number): number[] {
  return Array.from({ length: perSecond * seconds }, (_, at) => ((at + 0.5) * 1000) / perSecond);
}
