import type { Attempts } from '../../../sim/run/recording.js';

interface Attempt {
  readonly atMs: number;
  readonly node: number;
  readonly messages: number;
  readonly bytes: number;
  readonly retry: boolean;
  readonly admitted: boolean;
}

/** Attempts as columns that one message carries to another process. */
export class AttemptColumns {
  readonly #atMs: number[] = [];
  readonly #node: number[] = [];
  readonly #messages: number[] = [];
  readonly #bytes: number[] = [];
  readonly #retry: number[] = [];
  readonly #admitted: number[] = [];

  add({ atMs, node, messages, bytes, retry, admitted }: Attempt): void {
    this.#atMs.push(atMs);
    this.#node.push(node);
    this.#messages.push(messages);
    this.#bytes.push(bytes);
    this.#retry.push(retry ? 1 : 0);
    this.#admitted.push(admitted ? 1 : 0);
  }

  get length(): number {
    return this.#atMs.length;
  }

  toAttempts(): Attempts {
    return {
      atMs: Float64Array.from(this.#atMs),
      node: Uint16Array.from(this.#node),
      messages: Float64Array.from(this.#messages),
      bytes: Float64Array.from(this.#bytes),
      retry: Uint8Array.from(this.#retry),
      admitted: Uint8Array.from(this.#admitted),
    };
  }
}
