import { depthGiven, type GroupSettings } from '../base/settings.js';
import { DIMENSION_COUNT, DIRECTION_COUNT, DIRECTIONS, MESSAGES } from '../base/vocabulary.js';
import { clusterDepth } from '../tokens/cluster-depth.js';
import { KeyRows } from './key-rows.js';

/** What the rows of one template, or of an override, have in common. */
export interface Whispered {
  readonly settings: Pick<GroupSettings, 'quota' | 'burst'>;
  /** False: every use of such a key is told like that of any group. */
  readonly mayWhisper: boolean;
}

/**
 * What this node may spend of every key without telling anybody: a bucket per key, of min(1, 3/N) of the cluster's
 * bucket, which fills at quota/N, where N nodes are alive. (With `burst.policy: divided`, of 1/N of it.)
 *
 * Bound: in any time t, k nodes that say nothing spend at most k·min(1, 3/N) depths and k/N·quota·t of a key, so all of
 * them three depths and the quota: what the nodes of a group may take of a full bucket at once (core/tokens). A key of
 * which somebody speaks is not whispered of any more by whoever has read it.
 *
 * A key is a line of numbers, because a million objects would take five times as much. Times are of the node's
 * monotonic clock, milliseconds.
 */
export class Whispers {
  readonly maxLive: number;
  /** A line: time of the last refill (Infinity = the key speaks), tag, tokens of the limited slots. */
  readonly #rows: KeyRows;
  readonly #kinds: Kind[];
  #tokens: number;
  #nodes = 0;

  /** @param seed see KeyRows */
  constructor(kinds: readonly Whispered[], maxLive: number, seed: number) {
    this.maxLive = maxLive;
    this.#kinds = kinds.map(kindOf);
    this.#tokens = Math.max(1, ...this.#kinds.map(({ perSecond }) => perSecond.length));
    this.#rows = new KeyRows(maxLive, TOKENS + this.#tokens, seed);
  }

  /** Keys in memory. */
  get size(): number {
    return this.#rows.size;
  }

  /** The row of a key, or −1. It is the key's until a key is added or forgotten. */
  find(name: string): number {
    return this.#rows.find(name);
  }

  kindOf(row: number): number {
    return Math.floor(this.#tagOf(row) / CELLS);
  }

  /** The low bits of the key's id (strangers.ts). */
  cellOf(row: number): number {
    return this.#tagOf(row) % CELLS;
  }

  /** So many nodes share every key from now on. */
  setNodes(nodes: number): void {
    this.#nodes = nodes;
    for (const kind of this.#kinds) divide(kind, nodes);
  }

  /** A kind is new, or one of which there are no rows becomes another. */
  setKind(index: number, whispered: Whispered): void {
    const kind = kindOf(whispered);
    if (this.#nodes > 0) divide(kind, this.#nodes);
    this.#kinds[index] = kind;
    if (kind.perSecond.length <= this.#tokens) return;
    this.#tokens = kind.perSecond.length;
    this.#rows.widen(TOKENS + this.#tokens);
  }

  /** A key is of another kind from now on. What was spent of it stays spent: nothing is minted and no debt forgiven. */
  move(row: number, kindIndex: number, nowMs: number): void {
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    const cell = this.cellOf(row);
    const isSilent = !this.speaks(row);
    const spent = isSilent ? SLOTS.map((slot) => this.#spentOf(row, slot, nowMs)) : [];
    lines[at + TAG] = kindIndex * CELLS + cell;
    if (!isSilent) return;
    const { slots, depth } = this.#kinds[kindIndex] as Kind;
    lines[at] = nowMs;
    for (const slot of SLOTS) {
      const into = slots[slot] as number;
      if (into !== -1) lines[at + TOKENS + into] = (depth[into] as number) - (spent[slot] as number);
    }
  }

  #spentOf(row: number, slot: number, nowMs: number): number {
    const { slots, depth } = this.#kinds[this.kindOf(row)] as Kind;
    const own = slots[slot] as number;
    if (own === -1) return 0;
    const left = this.left(row, Math.floor(slot / DIMENSION_COUNT), slot % DIMENSION_COUNT, nowMs);
    return Math.max(0, (depth[own] as number) - left);
  }

  forget(row: number): void {
    this.#rows.remove(row);
  }

  /**
   * A key is used for the first time. Its bucket is what it would be if it had been there, unused, since that time.
   * Returns −1 if there is no room.
   */
  add(name: string, kindIndex: number, cell: number, sinceMs: number): number {
    const row = this.#rows.add(name);
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    lines[at] = sinceMs;
    lines[at + TAG] = kindIndex * CELLS + cell;
    return row;
  }

  /** Takes both amounts, or nothing: then this node would have to tell others what it takes. */
  take(row: number, direction: number, messages: number, bytes: number, nowMs: number): boolean {
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    const elapsedMs = nowMs - (lines[at] as number);
    // A key that speaks: its time is Infinity.
    if (!(elapsedMs >= 0)) return false;
    const kind = this.#kinds[Math.floor((lines[at + TAG] as number) / CELLS)] as Kind;
    if (!kind.mayWhisper) return false;
    lines[at] = nowMs;
    const { perSecond, depth, slots } = kind;
    for (let slot = 0; slot < perSecond.length; slot++) {
      const tokens = (lines[at + TOKENS + slot] as number) + (elapsedMs * (perSecond[slot] as number)) / 1000;
      lines[at + TOKENS + slot] = Math.min(depth[slot] as number, tokens);
    }
    const first = direction * DIMENSION_COUNT;
    const messageSlot = slots[first] as number;
    const byteSlot = slots[first + 1] as number;
    if (messageSlot !== -1 && (lines[at + TOKENS + messageSlot] as number) < messages) return false;
    if (byteSlot !== -1 && (lines[at + TOKENS + byteSlot] as number) < bytes) return false;
    if (messageSlot !== -1) lines[at + TOKENS + messageSlot] = (lines[at + TOKENS + messageSlot] as number) - messages;
    if (byteSlot !== -1) lines[at + TOKENS + byteSlot] = (lines[at + TOKENS + byteSlot] as number) - bytes;
    return true;
  }

  /** Units that may be taken of a slot now; Infinity where nothing limits. */
  left(row: number, direction: number, dimension: number, nowMs: number): number {
    const kind = this.#kinds[this.kindOf(row)] as Kind;
    const slot = kind.slots[direction * DIMENSION_COUNT + dimension] as number;
    if (slot === -1) return Number.POSITIVE_INFINITY;
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    const elapsedMs = Math.max(0, nowMs - (lines[at] as number));
    const tokens = (lines[at + TOKENS + slot] as number) + (elapsedMs * (kind.perSecond[slot] as number)) / 1000;
    return Math.min(kind.depth[slot] as number, tokens);
  }

  /** Units that were taken unheard and have not come back, whole ones. */
  spent(row: number, direction: number, dimension: number, nowMs: number): number {
    const kind = this.#kinds[this.kindOf(row)] as Kind;
    const slot = kind.slots[direction * DIMENSION_COUNT + dimension] as number;
    if (slot === -1) return 0;
    return Math.max(0, Math.ceil((kind.depth[slot] as number) - this.left(row, direction, dimension, nowMs)));
  }

  /** Whether the key is a group like any other now. */
  speaks(row: number): boolean {
    return this.#usedMs(row) === Number.POSITIVE_INFINITY;
  }

  speak(row: number): void {
    this.#rows.linesOf(row)[this.#rows.offsetOf(row)] = Number.POSITIVE_INFINITY;
  }

  /** The key is silent again. Its bucket begins empty: what it spent aloud is none of what it may spend unheard. */
  fallSilent(row: number, nowMs: number): void {
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    const { perSecond } = this.#kinds[this.kindOf(row)] as Kind;
    lines.fill(0, at + TOKENS, at + TOKENS + perSecond.length);
    lines[at] = nowMs;
  }

  /** Forgets keys whose buckets have been full for so long, among the next `count` slots; returns their kinds. */
  sweep(nowMs: number, fullForMs: number, count: number): readonly number[] {
    const forgotten: number[] = [];
    for (let looked = 0; looked < count; looked++) {
      const row = this.#rows.atHand();
      if (row === -1 || this.#fullSinceMs(row, nowMs) > nowMs - fullForMs) {
        this.#rows.moveHand();
        continue;
      }
      // The hand stays: another key may have moved there.
      forgotten.push(this.kindOf(row));
      this.#rows.remove(row);
    }
    return forgotten;
  }

  /**
   * Makes room for one key: of the next rows, the one that was used least recently goes, if its bucket is full again.
   * Returns its kind, or −1: all of them have something to remember.
   */
  makeRoom(nowMs: number): number {
    let oldest = -1;
    let oldestUsedMs = Number.POSITIVE_INFINITY;
    const rows = Math.min(LOOKED_AT, this.#rows.size);
    for (let looked = 0; looked < rows; this.#rows.moveHand()) {
      const row = this.#rows.atHand();
      if (row === -1) continue;
      looked++;
      const usedMs = this.#usedMs(row);
      if (usedMs >= oldestUsedMs || this.#fullSinceMs(row, nowMs) > nowMs) continue;
      oldest = row;
      oldestUsedMs = usedMs;
    }
    if (oldest === -1) return -1;
    const kind = this.kindOf(oldest);
    this.#rows.remove(oldest);
    return kind;
  }

  /** When the buckets of a row were full again, or will be; Infinity for a key that speaks. */
  #fullSinceMs(row: number, nowMs: number): number {
    if (this.speaks(row)) return Number.POSITIVE_INFINITY;
    const { perSecond, depth } = this.#kinds[this.kindOf(row)] as Kind;
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    let inMs = 0;
    for (let slot = 0; slot < perSecond.length; slot++) {
      const missing = (depth[slot] as number) - (lines[at + TOKENS + slot] as number);
      if (missing > 0) inMs = Math.max(inMs, (1000 * missing) / (perSecond[slot] as number));
    }
    const fullMs = (lines[at] as number) + inMs;
    return Number.isNaN(fullMs) ? nowMs : fullMs;
  }

  #usedMs(row: number): number {
    return this.#rows.linesOf(row)[this.#rows.offsetOf(row)] as number;
  }

  #tagOf(row: number): number {
    return this.#rows.linesOf(row)[this.#rows.offsetOf(row) + TAG] as number;
  }
}

/** Rows looked at for one that may go: the least recently used of 64 is seldom (1 in 27) not among the oldest 5 %. */
const LOOKED_AT = 64;
/** Nodes that take of a full bucket at one instant take so many depths at most, as `burst.policy: optimistic` says. */
const TOGETHER = 3;
const TAG = 1;
const TOKENS = 2;
const CELLS = 65_536;

interface Kind {
  readonly mayWhisper: boolean;
  readonly isDivided: boolean;
  /** Per direction and dimension: the slot, −1 = unlimited. */
  readonly slots: readonly number[];
  /** Per slot, of the cluster. */
  readonly quotas: readonly { readonly perSecond: number; readonly depth: number }[];
  /** Per slot, of this node: units. */
  readonly perSecond: Float64Array;
  readonly depth: Float64Array;
}

/** Per direction and dimension. */
const SLOTS = Array.from({ length: DIRECTION_COUNT * DIMENSION_COUNT }, (_, slot) => slot);

/** What one of so many nodes may spend unheard. */
function divide({ isDivided, quotas, perSecond, depth }: Kind, nodes: number): void {
  const part = isDivided ? 1 / nodes : Math.min(1, TOGETHER / nodes);
  quotas.forEach((quota, slot) => {
    perSecond[slot] = quota.perSecond / nodes;
    depth[slot] = quota.depth * part;
  });
}

function kindOf({ settings: { quota, burst }, mayWhisper }: Whispered): Kind {
  const slots: number[] = [];
  const quotas: { perSecond: number; depth: number }[] = [];
  for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
    const rates = quota[DIRECTIONS[direction] as keyof typeof quota];
    for (let dimension = MESSAGES; dimension < DIMENSION_COUNT; dimension++) {
      const perSecond = rates[dimension] as number;
      slots.push(perSecond === Number.POSITIVE_INFINITY ? -1 : quotas.length);
      const depth = perSecond === 0 ? 0 : (depthGiven(burst, direction, dimension) ?? clusterDepth(perSecond, 1));
      if (perSecond !== Number.POSITIVE_INFINITY) quotas.push({ perSecond, depth });
    }
  }
  const isDivided = burst.policy === 'divided';
  const [perSecond, depth] = [new Float64Array(quotas.length), new Float64Array(quotas.length)];
  return { mayWhisper, isDivided, slots, quotas, perSecond, depth };
}
