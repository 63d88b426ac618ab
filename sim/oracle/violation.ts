/** Broken promise of docs/reference/promises.md. */
export interface Violation {
  readonly atMs: number;
  /** Name of the promise in the document. */
  readonly promise: string;
  readonly says: string;
}

/** Keeps the first of each promise and group, and counts others. */
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
