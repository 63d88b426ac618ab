import { QuotameshError } from '../../../base/errors/quotamesh-error.js';

/** Remembers refused limits, which take as long as many requests to examine; a wrong gateway repeats them. */
export class RefusedLimits {
  /** Kind and text of the limit → error. */
  readonly #errors = new Map<string, QuotameshError>();

  /** Throws the error of the same limit, for another key of the kind. */
  throwAgain(kind: number, limit: string, key: string): void {
    const known = this.#errors.get(`${kind} ${limit}`);
    if (known !== undefined) throw new QuotameshError(known.code, { ...known.facts, key });
  }

  /** Returns what `read` makes of a limit; keeps what it throws. */
  noted<Value>(kind: number, limit: string, read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      if (this.#errors.size >= KEPT) this.#errors.clear();
      if (error instanceof QuotameshError) this.#errors.set(`${kind} ${limit}`, error);
      throw error;
    }
  }

  /** Forgets all, as kinds may allow others now. */
  clear(): void {
    this.#errors.clear();
  }
}

/** Different limits kept; beyond that somebody makes them up. */
const KEPT = 64;
