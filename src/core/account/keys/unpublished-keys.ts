import { depthGiven, type GroupSettings } from '../../base/settings.js';
import { BYTES, DIMENSION_COUNT, DIRECTION_COUNT, DIRECTIONS, MESSAGES } from '../../base/vocabulary.js';
import { clusterDepth } from '../cluster-depth.js';
import { KeyRows } from './key-rows.js';
import { ShareTime } from './share-time.js';

/** Settings of the rows of one template, or of an override. */
export interface UnpublishedKind {
  readonly settings: Pick<GroupSettings, 'quota' | 'burst'>;
  /** False: every use of such a key is told like that of any group. */
  readonly mayStayUnpublished: boolean;
}

export interface SpentKey {
  readonly name: string;
  /** Per direction and dimension. */
  readonly units: readonly number[];
  /** The largest part of what a node may spend without publishing it. */
  readonly part: number;
}

/**
 * Keeps what this node may spend of every key without telling anybody: a bucket per key, of 1/N of the cluster's
 * bucket, which fills at quota/N, where N nodes are alive.
 *
 * Bound: in any time t, k nodes that say nothing spend at most k/N of a depth and of quota·t of a key, so all of them
 * one depth and the quota (docs/decisions/0101), also where N changes (0118). A key of which somebody publishes is not
 * stated of any more by whoever has read it.
 *
 * A key is a line of numbers, because a million objects would take five times as much. Times that callers give are of
 * the node's monotonic clock, milliseconds; those in a line are of share-time.ts.
 */
export class UnpublishedKeys {
  readonly maxLive: number;
  /** A line: time of the last refill (Infinity = the key is published), kind and bits of the id, the limited slots. */
  readonly #rows: KeyRows;
  readonly #kinds: Kind[];
  /** Limited slots that a line has room for. */
  #slots: number;
  readonly #time = new ShareTime();
  /** The same where `burst.start` is `empty`: buckets are empty when the node begins to decide. */
  readonly #emptyTime = new ShareTime();
  #startedMs = Infinity;

  /** @param seed see KeyRows */
  constructor(kinds: readonly UnpublishedKind[], maxLive: number, seed: number) {
    this.maxLive = maxLive;
    this.#kinds = kinds.map((kind) => kindOf(kind, this.#timeOf(kind)));
    this.#slots = Math.max(1, ...this.#kinds.map(({ perSecond }) => perSecond.length));
    this.#rows = new KeyRows(maxLive, TOKENS + PER_SLOT * this.#slots, seed);
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
    return this.#rows.wordsOf(row)[KIND + 2 * this.#rows.offsetOf(row)];
  }

  /** Reads the bits of the key's id (ids.ts). */
  bitsOf(row: number): number {
    return this.#rows.wordsOf(row)[BITS + 2 * this.#rows.offsetOf(row)];
  }

  /** So many nodes share every key from now on. */
  setNodes(nodes: number, nowMs: number): void {
    this.#time.setNodes(nodes, nowMs);
    this.#emptyTime.setNodes(nodes, nowMs);
    for (const kind of this.#kinds) divide(kind);
  }

  /** The node begins to decide at this time. */
  start(nowMs: number): void {
    this.#startedMs = nowMs;
    this.#emptyTime.begin(nowMs);
    for (const kind of this.#kinds) divide(kind);
  }

  /** The node has nothing to spend at this time, of any key. */
  begin(nowMs: number): void {
    this.#time.begin(nowMs);
    this.#emptyTime.begin(nowMs);
    for (const kind of this.#kinds) divide(kind);
  }

  #timeOf({ settings: { burst } }: UnpublishedKind): ShareTime {
    return burst.start === 'empty' ? this.#emptyTime : this.#time;
  }

  /** A kind is new, or one of which there are no rows becomes another. */
  setKind(index: number, stated: UnpublishedKind): void {
    const kind = kindOf(stated, this.#timeOf(stated));
    this.#kinds[index] = kind;
    if (kind.perSecond.length <= this.#slots) return;
    this.#slots = kind.perSecond.length;
    this.#rows.widen(TOKENS + PER_SLOT * this.#slots);
  }

  /**
   * A key is of another kind from now on. Its bucket is what it would be if it had always been of that kind: what was
   * spent here stays spent, and the rest is filled to the same part.
   */
  move(row: number, kindIndex: number, nowMs: number): void {
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    const before = this.#kinds[this.kindOf(row)];
    const now = this.#time.at(nowMs);
    const isSilent = !this.isPublished(row);
    this.#rows.wordsOf(row)[KIND + 2 * at] = kindIndex;
    if (!isSilent) return;
    const kept = SLOTS.map((slot) => {
      const own = before.slots[slot];
      if (own === -1) return { spent: 0, filled: 1 };
      const cell = cellAt(at, own);
      fill(lines, cell, before, own, lines[at], now);
      const spent = lines[cell + SPENT];
      const depth = before.depth[own];
      return { spent, filled: depth > 0 ? Math.min(1, (lines[cell] + spent) / depth) : 0 };
    });
    lines[at] = now;
    const { slots, depth } = this.#kinds[kindIndex];
    for (const [slot, { spent, filled }] of kept.entries()) {
      const into = slots[slot];
      if (into === -1) continue;
      const cell = cellAt(at, into);
      lines[cell] = filled * depth[into] - spent;
      lines[cell + SPENT] = spent;
    }
  }

  forget(row: number): void {
    this.#rows.remove(row);
  }

  /** A key is used for the first time. Its bucket is what it would be if it had been there, unused, all the time. */
  add(name: string, kindIndex: number, bits: number, nowMs: number): number {
    const row = this.#rows.add(name);
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    // Another key may have had the line.
    this.#empty(lines, at);
    const now = this.#time.at(nowMs);
    const kind = this.#kinds[kindIndex];
    lines[at] = now;
    const words = this.#rows.wordsOf(row);
    words[KIND + 2 * at] = kindIndex;
    words[BITS + 2 * at] = bits;
    for (let slot = 0; slot < kind.perSecond.length; slot++) {
      lines[cellAt(at, slot)] = mostOf(kind, slot, now);
    }
    return row;
  }

  /** Takes both amounts, or nothing: then this node would have to tell others what it takes. */
  take(row: number, direction: number, messages: number, bytes: number, nowMs: number): boolean {
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    // A key that is published: its time is Infinity.
    const now = this.#time.at(nowMs);
    if (!(now - lines[at] >= 0)) return false;
    const kind = this.#kinds[this.kindOf(row)];
    if (!kind.mayStayUnpublished) return false;
    fillAll(lines, at, kind, now);
    const { slots } = kind;
    const first = direction * DIMENSION_COUNT;
    const messageSlot = slots[first];
    const byteSlot = slots[first + 1];
    if (messageSlot !== -1 && lines[cellAt(at, messageSlot)] < messages) return false;
    if (byteSlot !== -1 && lines[cellAt(at, byteSlot)] < bytes) return false;
    if (messageSlot !== -1) spend(lines, cellAt(at, messageSlot), messages);
    if (byteSlot !== -1) spend(lines, cellAt(at, byteSlot), bytes);
    return true;
  }

  /** Tests if `take` would take this now. */
  contains(row: number, direction: number, messages: number, bytes: number, nowMs: number): boolean {
    if (this.isPublished(row) || !this.#kinds[this.kindOf(row)].mayStayUnpublished) return false;
    if (this.left(row, direction, MESSAGES, nowMs) < messages) return false;
    return this.left(row, direction, BYTES, nowMs) >= bytes;
  }

  /** Units that were taken and not used. The caller knows that so many have not come back by themselves. */
  giveBack(row: number, direction: number, dimension: number, units: number, nowMs: number): void {
    const kind = this.#kinds[this.kindOf(row)];
    const slot = kind.slots[direction * DIMENSION_COUNT + dimension];
    if (slot === -1) return;
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    fillAll(lines, at, kind, this.#time.at(nowMs));
    spend(lines, cellAt(at, slot), -units);
  }

  /** Units that may be taken of a slot now; Infinity where nothing limits. */
  left(row: number, direction: number, dimension: number, nowMs: number): number {
    const kind = this.#kinds[this.kindOf(row)];
    const slot = kind.slots[direction * DIMENSION_COUNT + dimension];
    if (slot === -1) return Infinity;
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    const now = this.#time.at(nowMs);
    const elapsed = Math.max(0, now - lines[at]);
    const tokens = lines[cellAt(at, slot)] + (elapsed * kind.perSecond[slot]) / 1000;
    return Math.min(mostOf(kind, slot, now), tokens);
  }

  /** The same of a key that is not here. */
  leftUnused(kindIndex: number, direction: number, dimension: number, nowMs: number): number {
    const kind = this.#kinds[kindIndex];
    const slot = kind.slots[direction * DIMENSION_COUNT + dimension];
    return slot === -1 ? Infinity : mostOf(kind, slot, this.#time.at(nowMs));
  }

  /**
   * Units that the cluster's bucket of a slot holds, as far as this node knows: what it holds unused, less what was
   * spent here. Infinity where nothing limits.
   */
  known(row: number, direction: number, dimension: number, nowMs: number): number {
    const unused = this.knownUnused(this.kindOf(row), direction, dimension, nowMs);
    return Math.max(0, unused - this.spent(row, direction, dimension, nowMs));
  }

  /** The same of a key that is not here. */
  knownUnused(kindIndex: number, direction: number, dimension: number, nowMs: number): number {
    const { slots, depths, perSecond, time } = this.#kinds[kindIndex];
    const slot = slots[direction * DIMENSION_COUNT + dimension];
    if (slot === -1) return Infinity;
    const depth = depths[slot];
    if (time !== this.#emptyTime) return depth;
    return Math.min(depth, (Math.max(0, nowMs - this.#startedMs) * perSecond[slot]) / 1000);
  }

  /** Units that were taken unpublished and have not come back. */
  spent(row: number, direction: number, dimension: number, nowMs: number): number {
    const kind = this.#kinds[this.kindOf(row)];
    const slot = kind.slots[direction * DIMENSION_COUNT + dimension];
    if (slot === -1) return 0;
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    const cell = cellAt(at, slot);
    const tokens = lines[cell];
    const spent = lines[cell + SPENT];
    const elapsed = Math.max(0, this.#time.at(nowMs) - lines[at]);
    const gained = (elapsed * kind.perSecond[slot]) / 1000;
    return spentAfter(gained, spent, mostOf(kind, slot, lines[at]) - tokens - spent);
  }

  /** Keys of which this node has spent more than such a part of what it may unpublished; the largest part first. */
  spentMost(part: number, max: number, nowMs: number): readonly SpentKey[] {
    const spent: SpentKey[] = [];
    for (const [name, row] of this.#rows.entries()) {
      if (this.isPublished(row)) continue;
      const { slots, depth } = this.#kinds[this.kindOf(row)];
      const units = SLOTS.map((slot) =>
        this.spent(row, Math.floor(slot / DIMENSION_COUNT), slot % DIMENSION_COUNT, nowMs),
      );
      const parts = units.map((each, slot) => (each > 0 ? each / depth[slots[slot]] : 0));
      const most = Math.max(...parts);
      if (most > part) spent.push({ name, units, part: most });
    }
    return spent.sort((one, other) => other.part - one.part).slice(0, max);
  }

  /** Tests if the key is a group like any other now. */
  isPublished(row: number): boolean {
    return this.#usedAt(row) === Infinity;
  }

  publish(row: number): void {
    this.#rows.linesOf(row)[this.#rows.offsetOf(row)] = Infinity;
  }

  /**
   * The key is silent again. Its bucket begins empty: what it spent aloud is none of what it may spend without
   * publishing it.
   */
  fallSilent(row: number, nowMs: number): void {
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    this.#empty(lines, at);
    lines[at] = this.#time.at(nowMs);
    const { perSecond } = this.#kinds[this.kindOf(row)];
    // Empty as it is, a bucket of depth 0 would pass for full.
    for (let slot = 0; slot < perSecond.length; slot++) if (perSecond[slot] === 0) lines[cellAt(at, slot)] = LACKING;
  }

  /** Forgets keys whose buckets have been full for so long, among the next `count` slots; returns their kinds. */
  sweep(nowMs: number, fullForMs: number, count: number): readonly number[] {
    const forgotten: number[] = [];
    if (this.#rows.size === 0) return forgotten;
    const fullBefore = this.#time.at(nowMs - fullForMs);
    for (let looked = 0; looked < count; looked++) {
      const row = this.#rows.atHand();
      if (row === -1 || !(this.#fullAt(row) <= fullBefore)) {
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
    let oldestUsedAt = Infinity;
    const now = this.#time.at(nowMs);
    const rows = Math.min(LOOKED_AT, this.#rows.size);
    for (let looked = 0; looked < rows; this.#rows.moveHand()) {
      const row = this.#rows.atHand();
      if (row === -1) continue;
      looked++;
      const usedAt = this.#usedAt(row);
      if (usedAt >= oldestUsedAt || this.#fullAt(row) > now) continue;
      oldest = row;
      oldestUsedAt = usedAt;
    }
    if (oldest === -1) return -1;
    const kind = this.kindOf(oldest);
    this.#rows.remove(oldest);
    return kind;
  }

  /** When the buckets of a row were full again, or will be, by share-time.ts; Infinity for a key that is published. */
  #fullAt(row: number): number {
    if (this.isPublished(row)) return Infinity;
    const { perSecond, depth } = this.#kinds[this.kindOf(row)];
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    let after = 0;
    for (let slot = 0; slot < perSecond.length; slot++) {
      const missing = depth[slot] - lines[cellAt(at, slot)];
      const rate = perSecond[slot];
      // Units spent of a quota that is 0 now do not come back.
      const ms = rate > 0 ? (1000 * missing) / rate : KEPT_AT_ZERO_MS;
      if (missing > 0) after = Math.max(after, ms);
    }
    return lines[at] + after;
  }

  #empty(lines: Float64Array, at: number): void {
    lines.fill(0, at + TOKENS, at + TOKENS + PER_SLOT * this.#slots);
  }

  #usedAt(row: number): number {
    return this.#rows.linesOf(row)[this.#rows.offsetOf(row)];
  }
}

function cellAt(line: number, slot: number): number {
  return line + TOKENS + PER_SLOT * slot;
}

function spend(lines: Float64Array, cell: number, amount: number): void {
  lines[cell] = lines[cell] - amount;
  lines[cell + SPENT] = lines[cell + SPENT] + amount;
}

function fillAll(lines: Float64Array, at: number, kind: Kind, now: number): void {
  for (let slot = 0; slot < kind.perSecond.length; slot++) fill(lines, cellAt(at, slot), kind, slot, lines[at], now);
  lines[at] = now;
}

/** Computes what a bucket may hold now: its depth, but for some time after the node began, or others went. */
function mostOf(kind: Kind, slot: number, now: number): number {
  if (now >= kind.wholeAt[slot]) return kind.depth[slot];
  return (kind.time.unused(kind.fillMs[slot], now) * kind.perSecond[slot]) / 1000;
}

/** Fills what the bucket lacked at its beginning, before it pays for what was spent. */
function fill(lines: Float64Array, cell: number, kind: Kind, slot: number, since: number, now: number): void {
  const tokens = lines[cell];
  const spent = lines[cell + SPENT];
  const gained = (Math.max(0, now - since) * kind.perSecond[slot]) / 1000;
  lines[cell] = Math.min(mostOf(kind, slot, now), tokens + gained);
  lines[cell + SPENT] = spentAfter(gained, spent, mostOf(kind, slot, since) - tokens - spent);
}

/**
 * Computes what is still to be paid of what was spent, if the bucket lacked so much at its beginning that is not filled
 * yet.
 */
function spentAfter(gained: number, spent: number, lacked: number): number {
  return Math.max(0, spent - Math.max(0, gained - Math.max(0, lacked)));
}

/**
 * Rows looked at for one that may go. Of 27 times that the least recently used of 64 goes, it is 26 times one of the
 * oldest 5 %.
 */
const LOOKED_AT = 64;
/**
 * Remembers for so long a key that has spent and may not spend now. With less a limit of 0 that comes and goes gives it
 * another bucket; with more such keys fill the table.
 */
const KEPT_AT_ZERO_MS = 86_400_000;
/** Units of a bucket of depth 0 that was used aloud. */
const LACKING = -1e-9;
/** Words of a line (key-rows.ts). */
const KIND = 2;
const BITS = 3;
const TOKENS = 2;
/** Numbers of a limited slot: its tokens, and behind them what was spent here and has not come back. */
const PER_SLOT = 2;
const SPENT = 1;

interface Kind {
  readonly time: ShareTime;
  readonly mayStayUnpublished: boolean;
  /** Per direction and dimension: the slot, −1 = unlimited. */
  readonly slots: readonly number[];
  /** Per slot, of the cluster. */
  readonly perSecond: Float64Array;
  readonly depths: Float64Array;
  /** In which the cluster's bucket fills, ms; 0 where there is nothing to fill. */
  readonly fillMs: Float64Array;
  /** Per slot, of this node: units, and since when an unused bucket holds so many (share-time.ts). */
  readonly depth: Float64Array;
  readonly wholeAt: Float64Array;
}

type Column = Float64Array;

/** Per direction and dimension. */
const SLOTS = Array.from({ length: DIRECTION_COUNT * DIMENSION_COUNT }, (_, slot) => slot);

/** Divides what nodes may spend without publishing it. */
function divide({ time, depths, fillMs, depth, wholeAt }: Kind): void {
  for (let slot = 0; slot < depths.length; slot++) {
    depth[slot] = depths[slot] / time.nodes;
    wholeAt[slot] = time.wholeAt(fillMs[slot]);
  }
}

function kindOf({ settings: { quota, burst }, mayStayUnpublished }: UnpublishedKind, time: ShareTime): Kind {
  const slots: number[] = [];
  const perSecond: number[] = [];
  const depths: number[] = [];
  for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
    const rates = quota[DIRECTIONS[direction]];
    for (let dimension = MESSAGES; dimension < DIMENSION_COUNT; dimension++) {
      const rate = rates[dimension];
      slots.push(rate === Infinity ? -1 : perSecond.length);
      if (rate === Infinity) continue;
      perSecond.push(rate);
      depths.push(rate === 0 ? 0 : (depthGiven(burst, direction, dimension) ?? clusterDepth(rate, 1)));
    }
  }
  const fillMs = depths.map((depth, slot) => (depth === 0 ? 0 : (1000 * depth) / perSecond[slot]));
  const columns = [perSecond, depths, fillMs, depths, depths].map((column) => Float64Array.from(column));
  const [rates, whole, fills, depth, wholeAt] = columns as [Column, Column, Column, Column, Column];
  const kind = { time, mayStayUnpublished, slots, perSecond: rates, depths: whole, fillMs: fills, depth, wholeAt };
  divide(kind);
  return kind;
}
