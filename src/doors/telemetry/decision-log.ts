import { closeSync, openSync, writeSync } from 'node:fs';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ShareDecision } from '../../base/ports/telemetry.js';

/**
 * Writes every change of an own share as a JSON line `{"t": …, "node": …, …}`. t = epoch milliseconds with fraction, of
 * the monotonic clock, so that nodes of one machine can be merged. Each line is written at once (about 10 µs of the
 * event loop), to survive a kill -9.
 */
export class DecisionLog {
  readonly #nodeId: string;
  #file: number | null;

  constructor(path: string, nodeId: string) {
    this.#nodeId = nodeId;
    try {
      this.#file = openSync(path, 'a', 0o600);
    } catch (error) {
      throw new QuotameshError('LOG_UNWRITABLE', { path, reason: (error as Error).message }, { cause: error });
    }
  }

  write(decision: ShareDecision): void {
    if (this.#file === null) return;
    const t = performance.timeOrigin + performance.now();
    try {
      writeSync(this.#file, `${JSON.stringify({ t, node: this.#nodeId, ...decision })}\n`);
    } catch {
      // A full disk costs the decision log, not the node.
      this.close();
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}
