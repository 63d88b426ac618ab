import { QuotameshError } from '../../../base/errors/quotamesh-error.js';

/**
 * Limits that were refused lately, and why: to find out takes as long as many requests do, and a gateway that was
 * configured wrongly sends the same limit again and again.
 */
export class RefusedLimits {
  /** Number of the kind and text of the limit → why. */
  readonly #errors = new Map<string, QuotameshError>();

  /** Throws what was wrong with the same limit of another key of the kind. */
  throwAgain(kind: number, limit: string, key: string): void {
    const known = this.#errors.get(`${kind} ${limit}`);
    if (known !== undefined) throw new QuotameshError(known.code, { ...known.facts, key });
  }

  /** What `read` makes of a limit; what it throws is kept. */
  noted<Value>(kind: number, limit: string, read: () => Value): Value {
    try {
      return read();
    } catch (error) {
      if (this.#errors.size >= KEPT) this.#errors.clear();
      if (error instanceof QuotameshError) this.#errors.set(`${kind} ${limit}`, error);
      throw error;
    }
  }

  /** What kinds allow may have changed. */
  clear(): void {
    this.#errors.clear();
  }
}

/** Beyond so many different ones somebody makes them up. */
const KEPT = 64;
