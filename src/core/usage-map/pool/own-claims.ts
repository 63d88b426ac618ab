/**
 * Keeps the claims that this node has written and not read back. Until then it divides by the largest of them if that
 * is more: other nodes may apply a claim before this node has read it.
 */
export class OwnClaims {
  /** The claim written last; 0 = none yet. */
  newest = 0;
  /** In order of sequence; each is larger than those after it. */
  readonly #unread: { readonly sequence: number; readonly claim: number }[] = [];

  wrote(sequence: number, claim: number): void {
    this.newest = claim;
    while (this.#unread.length > 0 && (this.#unread.at(-1)?.claim as number) <= claim) this.#unread.pop();
    this.#unread.push({ sequence, claim });
  }

  /** Drops the claims read back; returns true if the largest has changed. */
  readBack(sequence: number): boolean {
    const before = this.largest;
    while (this.#unread.length > 0 && this.#unread[0]?.sequence <= sequence) this.#unread.shift();
    return this.largest !== before;
  }

  /** Forgets all claims, because another log begins, in which they are missing. */
  forgetAll(): void {
    this.newest = 0;
    this.#unread.length = 0;
  }

  /** Largest unread claim; 0 = none. */
  get largest(): number {
    return this.#unread[0]?.claim ?? 0;
  }
}
