import { fileURLToPath } from 'node:url';
import { Child } from '../../src/tools/processes/child.js';
import type { LoadAnswer, LoadTurn } from './http-load.js';

/** The process that asks servers of this one, turn by turn. */
export class HttpLoader {
  readonly #child = new Child([fileURLToPath(new URL('./http-load.js', import.meta.url))]);

  /** CPU of this process per request; what failed is an error. */
  async turn(turn: LoadTurn): Promise<{ readonly requestsPerSecond: number; readonly cpuMicros: number }> {
    const before = process.cpuUsage();
    const answer = await this.#child.ask<LoadAnswer>(turn);
    if (answer.failed > 0 || answer.answered === 0) throw new Error(`${turn.path}: ${JSON.stringify(answer)}`);
    const { user, system } = process.cpuUsage(before);
    return {
      requestsPerSecond: (answer.answered * 1000) / answer.tookMs,
      cpuMicros: (user + system) / answer.answered,
    };
  }

  async end(): Promise<void> {
    await this.#child.stop(STOP_PATIENCE_MS);
  }
}

const STOP_PATIENCE_MS = 1000;
