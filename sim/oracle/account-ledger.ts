/** Grant, lowered when a part comes back. */
export interface Grant {
  readonly atMs: number;
  amount: number;
}

/** Span with most granted beyond its bound. */
interface WorstSpan {
  /** Tokens above the bound; ≤ 0 = kept. */
  readonly excess: number;
  readonly fromMs: number;
  readonly untilMs: number;
  /** Largest depth within it. */
  readonly depth: number;
}

type Entry =
  /** `isRefusable` false = work that cannot be refused, and no grant. */
  | ({ readonly kind: 'grant'; readonly isRefusable: boolean; readonly onTop: number } & Grant)
  | { readonly kind: 'limit'; readonly atMs: number; readonly perSecond: number; readonly depth: number }
  | { readonly kind: 'allow'; readonly atMs: number; readonly tokens: number };

/** Depths that nodes take before knowing each other. */
export const TOGETHER = 3;

/** Returns the part of a full bucket that one of so many nodes may take before others know. */
export function partOf(nodes: number): number {
  return Math.min(1, (TOGETHER - 1) / Math.max(1, nodes - 1));
}

/**
 * Judges a bucket's grants in every span, by docs/reference/promises.md, `account`:
 *
 *     granted ≤ ∫ quota + max(three depths, a depth + pieces) + what was allowed within the span
 *
 * It counts callers' answers alone. Granted − ∫ quota − allowed, at most over spans that end now, is one number, raised
 * by grants and at least 0; a changing depth has one per depth larger than all later ones.
 */
export class AccountLedger {
  readonly #entries: Entry[] = [];
  readonly #pieces: number;

  /** @param pieces where quotas are given in pieces, a message for each node; then that and a depth may be more */
  constructor(pieces = 0) {
    this.#pieces = pieces;
  }

  /** Sets rate and depth from now on. */
  limited(atMs: number, perSecond: number, depth: number): void {
    this.#entries.push({ kind: 'limit', atMs, perSecond, depth });
  }

  /** Counts a grant. @param onTop tokens of it allowed in all its spans */
  granted(atMs: number, amount: number, onTop = 0): Grant {
    const grant = { kind: 'grant' as const, isRefusable: true, atMs, amount, onTop };
    this.#entries.push(grant);
    return grant;
  }

  /** Counts work that nobody could refuse. */
  consumed(atMs: number, amount: number): void {
    this.#entries.push({ kind: 'grant', isRefusable: false, atMs, amount, onTop: 0 });
  }

  centralAt(nowMs: number): number {
    let [level, lastMs, perSecond, depth] = [Infinity, 0, 0, 0];
    const pass = (atMs: number) => {
      level = Math.min(depth, level + (perSecond * (atMs - lastMs)) / 1000);
      lastMs = atMs;
    };
    for (const entry of this.#inOrder()) {
      if (entry.atMs > nowMs) break;
      if (entry.kind === 'limit' && depth === 0) level = entry.depth;
      else pass(entry.atMs);
      if (entry.kind === 'limit') {
        // Spent tokens stay spent, and a larger bucket has to be filled.
        if (depth > 0) level = Math.min(level, entry.depth - (depth - level));
        [perSecond, depth, lastMs] = [entry.perSecond, entry.depth, entry.atMs];
      } else if (entry.kind === 'grant') level -= entry.amount;
    }
    pass(nowMs);
    return level;
  }

  /** Allows tokens in all spans with this moment. */
  allow(atMs: number, tokens: number): void {
    this.#entries.push({ kind: 'allow', atMs, tokens });
  }

  get total(): number {
    return this.#entries.reduce((sum, entry) => sum + (isGrant(entry) ? entry.amount : 0), 0);
  }

  worst(): WorstSpan {
    return this.#spans().worst;
  }

  /** Returns most tokens above ∫ quota and allowance in any span, ≥ 0. */
  mostBeyond(): number {
    return this.#spans().mostBeyond;
  }

  #spans(): Spans {
    const spans = new Spans(this.#pieces);
    for (const entry of this.#inOrder()) {
      spans.pass(entry.atMs);
      if (entry.kind === 'limit') spans.limit(entry.perSecond, entry.depth);
      else if (entry.kind === 'allow') spans.take(-entry.tokens);
      else if (isGrant(entry) && entry.amount > entry.onTop) spans.take(entry.amount - entry.onTop);
    }
    return spans;
  }

  #inOrder(): readonly Entry[] {
    return this.#entries.toSorted((one, other) => one.atMs - other.atMs);
  }
}

function isGrant(entry: Entry): entry is Extract<Entry, { readonly kind: 'grant' }> {
  return entry.kind === 'grant' && entry.isRefusable;
}

/** Spans that end now with the same largest depth. */
interface OfDepth {
  readonly depth: number;
  /** Most that one is beyond quota and allowance. */
  beyond: number;
  /** Begin of that one. */
  fromMs: number;
}

class Spans {
  worst: WorstSpan = { excess: -Infinity, fromMs: 0, untilMs: 0, depth: 0 };
  mostBeyond = 0;
  /** Falling depths; the last is in force. */
  readonly #open: OfDepth[] = [];
  readonly #pieces: number;
  #perSecond = 0;
  #nowMs = 0;

  constructor(pieces: number) {
    this.#pieces = pieces;
  }

  pass(nowMs: number): void {
    const inflow = (this.#perSecond * (nowMs - this.#nowMs)) / 1000;
    this.#nowMs = nowMs;
    this.#lower(inflow);
  }

  limit(perSecond: number, depth: number): void {
    this.#perSecond = perSecond;
    let now: OfDepth = { depth, beyond: 0, fromMs: this.#nowMs };
    for (let last = this.#open.at(-1); last !== undefined && last.depth <= depth; last = this.#open.at(-1)) {
      this.#open.pop();
      if (last.beyond > now.beyond) now = { ...last, depth };
    }
    this.#open.push(now);
  }

  /** Adds tokens; below 0 = an allowance. */
  take(tokens: number): void {
    this.#lower(-tokens);
    if (tokens < 0) return;
    for (const { depth, beyond, fromMs } of this.#open) {
      this.mostBeyond = Math.max(this.mostBeyond, beyond);
      const excess = beyond - Math.max(TOGETHER * depth, depth + this.#pieces);
      if (excess > this.worst.excess) this.worst = { excess, fromMs, untilMs: this.#nowMs, depth };
    }
  }

  #lower(tokens: number): void {
    for (const spans of this.#open) spans.beyond -= tokens;
    const last = this.#open.at(-1);
    if (last === undefined || last.beyond > 0) return;
    last.beyond = 0;
    last.fromMs = this.#nowMs;
  }
}
