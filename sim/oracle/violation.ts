/** A promise of docs/reference/promises.md that was not kept. */
export interface Violation {
  readonly atMs: number;
  /** Name of the promise, as in the document. */
  readonly promise: string;
  readonly says: string;
}

/** Keeps the first of each promise and group, and counts the others: one cause breaks a promise a thousand times. */
export class Violations {
  readonly first: Violation[] = [];
  count = 0;
  readonly #known = new Set<string>();

  add(atMs: number, promise: string, about: string, says: string): void {
    this.count++;
    const key = `${promise} ${about}`;
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.first.push({ atMs, promise, says: `${about}: ${says}` });
  }
}
