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
  /** Three of these; in pieces a depth and a message per node, where that is more; of keys a quarter of one beside. */
  readonly most: number;
}

/** Facts beside the amount of a grant. */
interface Beside {
  /** Time from which it may have been decided; absent = `atMs`. */
  readonly sinceMs?: number;
  /** N of an advance; absent = nothing of the grant is allowed on top. */
  readonly nodes?: number;
  /** Node that has started within two deliveries. */
  readonly starter?: object | null;
  /** Node that has granted it. */
  readonly by?: object;
}

interface GrantEntry extends Grant {
  readonly kind: 'grant';
  /** False = work that cannot be refused, and no grant. */
  readonly isRefusable: boolean;
  readonly onTop: number;
  readonly sinceMs: number;
  readonly by: object | null;
}

interface LimitEntry {
  readonly kind: 'limit';
  readonly atMs: number;
  readonly perSecond: number;
  readonly depth: number;
}

interface AllowEntry {
  readonly kind: 'allow';
  readonly atMs: number;
  readonly tokens: number;
  /** Tokens of a killed node's large request beyond `tokens`: spans allow it already, and no record has it. */
  readonly large: number;
}

type Entry =
  | GrantEntry
  | { readonly kind: 'asked'; readonly atMs: number; readonly grant: GrantEntry }
  | { readonly kind: 'forget'; readonly atMs: number }
  | LimitEntry
  | AllowEntry;

/** Depths that nodes take before knowing each other. */
const TOGETHER = 3;
/** Depths that all nodes together leave unsaid of a full bucket. */
const UNSAID = 0.25;

/** Returns an advance, in depths: what one of so many nodes may take of a full bucket before others know. */
function advanceOf(nodes: number): number {
  return Math.min(1, (TOGETHER - 1) / Math.max(1, nodes - 1));
}

/**
 * Judges a bucket's grants in every span, by docs/reference/promises.md, `account`:
 *
 *     granted ≤ ∫ quota + max(three depths, a depth + pieces) + a quarter of a depth, of keys
 *               + what was allowed within the span
 *
 * Depths are the largest of the span.
 *
 * It counts callers' answers alone. Granted − ∫ quota − allowed, at most over spans that end now, is one number, raised
 * by grants and at least 0; a changing depth has one per depth larger than all later ones.
 *
 * A grant that was decided somewhere from `sinceMs` to `atMs` counts in spans that hold both: the number is then at
 * least −(what is under way).
 */
export class AccountLedger {
  /** Time of the last grant. */
  grantedMs = -Infinity;
  #entries: Entry[] = [];
  /** Rates and depths, in order of time. */
  #limits: LimitEntry[] = [];
  readonly #pieces: number;
  readonly #isKey: boolean;
  /** Tokens allowed to each node just after its start. */
  readonly #ofStarter = new Map<object, number>();

  /**
   * @param pieces a message for each node, where quotas are in pieces; then that and a depth may be more
   * @param isKey true = nodes take a part without a record
   */
  constructor(pieces = 0, isKey = false) {
    this.#pieces = pieces;
    this.#isKey = isKey;
  }

  /** Sets rate and depth from then on, replacing later ones. */
  limited(atMs: number, perSecond: number, depth: number): void {
    const limit: LimitEntry = { kind: 'limit', atMs, perSecond, depth };
    const later = new Set<Entry>(this.#limits.filter((one) => one.atMs > atMs));
    if (later.size > 0) this.#entries = this.#entries.filter((entry) => !later.has(entry));
    this.#limits = [...this.#limits.filter((one) => !later.has(one)), limit];
    this.#entries.push(limit);
  }

  #depthAt(atMs: number): number {
    return this.#limits.findLast((limit) => limit.atMs <= atMs)?.depth ?? 0;
  }

  /** Counts a grant; allows on top what exceeds an advance, and an advance to each node that starts. */
  granted(atMs: number, amount: number, beside: Beside = {}): Grant {
    const { sinceMs = atMs, nodes, starter = null, by = null } = beside;
    this.grantedMs = atMs;
    const onTop = nodes === undefined ? 0 : this.#onTop(amount, advanceOf(nodes) * this.#depthAt(atMs), starter);
    const grant: GrantEntry = { kind: 'grant', isRefusable: true, atMs, amount, onTop, sinceMs, by };
    if (sinceMs < atMs) this.#entries.push({ kind: 'asked', atMs: sinceMs, grant });
    this.#entries.push(grant);
    return grant;
  }

  #onTop(amount: number, advance: number, starter: object | null): number {
    // In pieces a message of each node is counted already.
    const large = Math.max(0, amount - Math.max(advance, this.#pieces > 0 ? 1 : 0));
    if (starter === null) return large;
    const before = this.#ofStarter.get(starter) ?? 0;
    const onTop = Math.max(large, Math.min(amount, advance - before));
    this.#ofStarter.set(starter, before + onTop);
    return onTop;
  }

  /** Allows the unreported use of a killed node, one of so many. */
  killed(atMs: number, nodes: number, deliveryMs: number, by: object | null = null): void {
    const isUntold = atMs - this.grantedMs < 2 * deliveryMs;
    const tokens = this.#depthAt(atMs) * (isUntold ? advanceOf(nodes) : 1 / nodes);
    const unreported = this.#entries.reduce((sum, entry) => {
      const isUnread = isGrant(entry) && by !== null && entry.by === by && atMs - entry.atMs < 2 * deliveryMs;
      return sum + (isUnread ? entry.amount : 0);
    }, 0);
    this.#entries.push({ kind: 'allow', atMs, tokens, large: Math.max(0, unreported - tokens) });
  }

  /** Allows the unpublished use of a stopping node, one of so many. */
  keyStopped(atMs: number, nodes: number): void {
    this.allow(atMs, (UNSAID * this.#depthAt(atMs)) / nodes);
  }

  /** Allows a log that was lost while nobody knew what it owed. */
  forgotten(atMs: number): void {
    this.#entries.push({ kind: 'forget', atMs });
  }

  /** Counts work that nobody could refuse. */
  consumed(atMs: number, amount: number): void {
    this.#entries.push({ kind: 'grant', isRefusable: false, atMs, amount, onTop: 0, sinceMs: atMs, by: null });
  }

  centralAt(nowMs: number): number {
    // Spent tokens stay spent, and a larger bucket has to be filled.
    return this.#levelAt(nowMs, (level, entry, depth) => {
      if (entry.kind === 'limit') return Math.min(level, entry.depth - (depth - level));
      return entry.kind === 'grant' ? level - entry.amount : level;
    });
  }

  /** Returns the most that the bucket holds: what was allowed may be in it, and work that cannot be refused let off. */
  heldAtMost(nowMs: number): number {
    return this.#levelAt(nowMs, heldAfter);
  }

  /** Returns the most that these nodes have taken unpublished of a bucket. It was full since. */
  unsaidBy(nodes: readonly object[], counted: number, nowMs: number): number {
    let fullMs = -Infinity;
    this.#levelAt(nowMs, (level, entry, depth) => {
      if (level >= depth) fullMs = entry.atMs;
      return heldAfter(level, entry, depth);
    });
    return this.#unpublishedSince(fullMs, nodes, counted, nowMs);
  }

  /** Returns the most that the bucket lacks by what these nodes took. Unpublished, it comes back at quota/N. */
  lackingBy(nodes: readonly object[], counted: number, nowMs: number): number {
    const { perSecond, depth } = this.#limits.findLast((limit) => limit.atMs <= nowMs) ?? { perSecond: 0, depth: 0 };
    const backMs = perSecond === 0 ? Infinity : (1000 * UNSAID * depth) / perSecond;
    return this.#unpublishedSince(nowMs - backMs, nodes, counted, nowMs);
  }

  #unpublishedSince(fromMs: number, nodes: readonly object[], counted: number, nowMs: number): number {
    const most = (UNSAID * this.#depthAt(nowMs)) / counted;
    const taken = (by: object) =>
      this.#entries.reduce((sum, entry) => {
        return isGrant(entry) && entry.by === by && entry.atMs >= fromMs ? sum + entry.amount : sum;
      }, 0);
    return nodes.reduce((sum: number, node) => sum + Math.min(most, taken(node)), 0);
  }

  /** @param after the level after an entry that is not the first */
  #levelAt(nowMs: number, after: (level: number, entry: Entry, depth: number) => number): number {
    let [level, lastMs, perSecond, depth] = [Infinity, 0, 0, 0];
    const pass = (atMs: number) => {
      level = Math.min(depth, level + (perSecond * (atMs - lastMs)) / 1000);
      lastMs = atMs;
    };
    for (const entry of this.#inOrder()) {
      if (entry.atMs > nowMs) break;
      if (depth > 0) {
        pass(entry.atMs);
        level = after(level, entry, depth);
      }
      if (entry.kind === 'limit') {
        [perSecond, depth, lastMs] = [entry.perSecond, entry.depth, entry.atMs];
        level = Math.min(level, depth);
      }
    }
    pass(nowMs);
    return level;
  }

  /** Allows tokens in all spans with this moment. */
  allow(atMs: number, tokens: number): void {
    this.#entries.push({ kind: 'allow', atMs, tokens, large: 0 });
  }

  get total(): number {
    return this.#entries.reduce((sum, entry) => sum + (isGrant(entry) ? entry.amount : 0), 0);
  }

  worst(): WorstSpan {
    return this.#spans().worst;
  }

  /** Returns most tokens above ∫ quota and allowance in any span. */
  mostBeyond(): number {
    return this.#spans().mostBeyond;
  }

  #spans(): Spans {
    const spans = new Spans(this.#pieces, this.#isKey ? UNSAID : 0);
    for (const entry of this.#inOrder()) {
      spans.pass(entry.atMs);
      if (entry.kind === 'limit') spans.limit(entry.perSecond, entry.depth);
      else if (entry.kind === 'allow') spans.take(-entry.tokens);
      else if (entry.kind === 'forget') spans.allowDepths(TOGETHER);
      else if (entry.kind === 'asked') spans.ask(countedOf(entry.grant));
      else if (isGrant(entry) && countedOf(entry) > 0) {
        if (entry.sinceMs < entry.atMs) spans.ask(-countedOf(entry));
        spans.take(countedOf(entry));
      }
    }
    return spans;
  }

  #inOrder(): readonly Entry[] {
    return this.#entries.toSorted((one, other) => one.atMs - other.atMs);
  }
}

/** Returns the most that the bucket holds after an entry. */
function heldAfter(level: number, entry: Entry, depth: number): number {
  if (entry.kind === 'limit') return Math.min(level, entry.depth);
  if (entry.kind === 'forget') return level + TOGETHER * depth;
  if (entry.kind === 'allow') return level + entry.tokens + entry.large;
  return isGrant(entry) ? level - entry.amount : level;
}

function isGrant(entry: Entry): entry is GrantEntry {
  return entry.kind === 'grant' && entry.isRefusable;
}

function countedOf({ amount, onTop }: GrantEntry): number {
  return Math.max(0, amount - onTop);
}

/** Spans that end now: one largest depth, as many depths allowed. */
interface OfDepth {
  readonly depth: number;
  /** Most that one is beyond quota and allowance. */
  beyond: number;
  /** Begin of that one. */
  fromMs: number;
  /** Depths allowed within it. */
  depths: number;
}

class Spans {
  worst: WorstSpan = { excess: -Infinity, fromMs: 0, untilMs: 0, depth: 0, most: 0 };
  mostBeyond = 0;
  /** Falling depths; the last is in force. */
  readonly #open: OfDepth[] = [];
  readonly #pieces: number;
  readonly #unsaid: number;
  #perSecond = 0;
  #nowMs = 0;
  /** Tokens of grants that are asked for and not answered. */
  #underWay = 0;

  /** @param unsaid depths that nodes have taken without a record */
  constructor(pieces: number, unsaid: number) {
    this.#pieces = pieces;
    this.#unsaid = unsaid;
  }

  pass(nowMs: number): void {
    const inflow = (this.#perSecond * (nowMs - this.#nowMs)) / 1000;
    this.#nowMs = nowMs;
    this.#lower(inflow);
  }

  limit(perSecond: number, depth: number): void {
    this.#perSecond = perSecond;
    const raised: OfDepth[] = [{ depth, beyond: -this.#underWay, fromMs: this.#nowMs, depths: 0 }];
    for (let last = this.#open.at(-1); last !== undefined && last.depth <= depth; last = this.#open.at(-1)) {
      this.#open.pop();
      const beyond = last.beyond - last.depths * (depth - last.depth);
      const same = raised.findIndex(({ depths }) => depths === last.depths);
      if (same === -1) raised.push({ ...last, depth, beyond });
      else if (beyond > raised[same].beyond) raised[same] = { ...last, depth, beyond };
    }
    this.#open.push(...raised.sort((one, other) => other.depths - one.depths));
  }

  /** Allows as many depths of each span in spans with this moment. */
  allowDepths(depths: number): void {
    for (const spans of this.#open) {
      spans.beyond -= depths * spans.depth;
      spans.depths += depths;
    }
    const { depth } = this.#open.at(-1) ?? { depth: 0 };
    this.#open.push({ depth, beyond: -this.#underWay, fromMs: this.#nowMs, depths: 0 });
  }

  /** Begins a grant, which spans that begin later do not hold; below 0 = its answer. */
  ask(tokens: number): void {
    this.#underWay += tokens;
  }

  /** Adds tokens; below 0 = an allowance. */
  take(tokens: number): void {
    this.#lower(-tokens);
    if (tokens < 0) return;
    for (const { depth, beyond, fromMs } of this.#open) {
      this.mostBeyond = Math.max(this.mostBeyond, beyond);
      const most = Math.max(TOGETHER * depth, depth + this.#pieces) + this.#unsaid * depth;
      const excess = beyond - most;
      if (excess > this.worst.excess) this.worst = { excess, fromMs, untilMs: this.#nowMs, depth, most };
    }
  }

  #lower(tokens: number): void {
    for (const spans of this.#open) spans.beyond -= tokens;
    const last = this.#open.at(-1);
    if (last === undefined || last.beyond > -this.#underWay) return;
    last.beyond = -this.#underWay;
    last.fromMs = this.#nowMs;
  }
}
