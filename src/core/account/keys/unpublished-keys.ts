import { ROUNDING_ERROR } from '../../base/constants.js';
import { depthGiven, type GroupSettings } from '../../base/settings.js';
import { BYTES, DIMENSION_COUNT, DIRECTION_COUNT, DIRECTIONS, MESSAGES, slotOf } from '../../base/vocabulary.js';
import { clusterDepth } from '../cluster-depth.js';
import { KEPT_AT_ZERO_MS, RECORDS_PER_CALL } from '../constants.js';
import { KeyRows } from './key-rows.js';
import { ShareTime } from './share-time.js';

/** Settings of the rows of one template, or of an override. */
export interface UnpublishedKind {
  readonly settings: Pick<GroupSettings, 'quota' | 'burst'>;
  /** False: every use of such a key is published as that of any group. */
  readonly mayStayUnpublished: boolean;
}

export interface Swept {
  /** Kinds of forgotten keys. */
  readonly forgotten: number[];
  /** Names of silent keys to publish. */
  readonly spent: string[];
}

export interface SpentKey {
  readonly name: string;
  /** Per direction and dimension. */
  readonly units: readonly number[];
  /** The largest part of a slot's bound that is spent. */
  readonly part: number;
}

/**
 * Keeps the units that this node may spend of every key unpublished. Each key has a bucket of 1/N of the cluster's,
 * which fills at quota/N, where N nodes are alive.
 *
 * Bound: in any time t, k silent nodes spend at most k/N of a depth and of quota·t of a key, so all of them one depth
 * and the quota, also where N changes (docs/decisions/0101). It holds until a node has read another node's report of
 * the key.
 *
 * A key is a line of numbers, because a million objects would take five times as much. Times that callers give are of
 * the node's monotonic clock, milliseconds; those in a line are of share-time.ts.
 */
export class UnpublishedKeys {
  readonly maxLive: number;
  /** Lines of: time of the last refill (Infinity = the key is published), kind and bits of the id, limited slots. */
  readonly #rows: KeyRows;
  readonly #kinds: Kind[];
  #slots: number;
  readonly #time = new ShareTime();
  /** Time where `burst.start` is `empty`: buckets are empty when the node begins to decide. */
  readonly #emptyTime = new ShareTime();
  #startedMs = Infinity;

  /** @param seed see KeyRows */
  constructor(kinds: readonly UnpublishedKind[], maxLive: number, seed: number) {
    this.maxLive = maxLive;
    this.#kinds = kinds.map((kind) => kindOf(kind, this.#timeOf(kind)));
    this.#slots = Math.max(1, ...this.#kinds.map(({ perSecond }) => perSecond.length));
    this.#rows = new KeyRows(maxLive, TOKENS + PER_SLOT * this.#slots, seed);
  }

  get size(): number {
    return this.#rows.size;
  }

  /** Returns the row of a key, or −1. It is the key's until a key is added or forgotten. */
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

  /** Sets the number of nodes that share every key from now on. */
  setNodes(nodes: number, nowMs: number): void {
    this.#time.setNodes(nodes, nowMs);
    this.#emptyTime.setNodes(nodes, nowMs);
    for (const kind of this.#kinds) divide(kind);
  }

  /** Notes the time at which the node begins to decide. */
  start(nowMs: number): void {
    this.#startedMs = nowMs;
    this.#emptyTime.begin(nowMs);
    for (const kind of this.#kinds) divide(kind);
  }

  /** Empties the node's parts of all keys at this time. */
  begin(nowMs: number): void {
    this.#time.begin(nowMs);
    this.#emptyTime.begin(nowMs);
    for (const kind of this.#kinds) divide(kind);
  }

  #timeOf({ settings: { burst } }: UnpublishedKind): ShareTime {
    return burst.start === 'empty' ? this.#emptyTime : this.#time;
  }

  /** Sets a kind that is new, or that has no rows. */
  setKind(index: number, stated: UnpublishedKind): void {
    const kind = kindOf(stated, this.#timeOf(stated));
    this.#kinds[index] = kind;
    if (kind.perSecond.length <= this.#slots) return;
    this.#slots = kind.perSecond.length;
    this.#rows.widen(TOKENS + PER_SLOT * this.#slots);
  }

  /**
   * Moves a key to another kind. Its bucket becomes that of a key which had always been of this kind: spent units stay
   * spent, and the rest is filled to the same part.
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

  /** Adds a key at its first use. Its bucket is as if it had been there, unused, all the time. */
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

  /** Takes both amounts or nothing: beyond them this node would have to publish its use. */
  take(row: number, direction: number, messages: number, bytes: number, nowMs: number): boolean {
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    // The time of a published key is Infinity.
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

  /** Tests if `take` would succeed now. */
  contains(row: number, direction: number, messages: number, bytes: number, nowMs: number): boolean {
    if (this.isPublished(row) || !this.#kinds[this.kindOf(row)].mayStayUnpublished) return false;
    if (this.left(row, direction, MESSAGES, nowMs) < messages) return false;
    return this.left(row, direction, BYTES, nowMs) >= bytes;
  }

  /** Gives unused units back. The caller has checked that they have not come back by themselves. */
  giveBack(row: number, direction: number, dimension: number, units: number, nowMs: number): void {
    const kind = this.#kinds[this.kindOf(row)];
    const slot = kind.slots[slotOf(direction, dimension)];
    if (slot === -1) return;
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    fillAll(lines, at, kind, this.#time.at(nowMs));
    spend(lines, cellAt(at, slot), -units);
  }

  /** Units of a slot that may be taken now; Infinity where nothing limits. */
  left(row: number, direction: number, dimension: number, nowMs: number): number {
    const kind = this.#kinds[this.kindOf(row)];
    const slot = kind.slots[slotOf(direction, dimension)];
    if (slot === -1) return Infinity;
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    const now = this.#time.at(nowMs);
    const elapsed = Math.max(0, now - lines[at]);
    const tokens = lines[cellAt(at, slot)] + (elapsed * kind.perSecond[slot]) / 1000;
    return Math.min(mostOf(kind, slot, now), tokens);
  }

  /** Units that may be taken of a key without a row. */
  leftUnused(kindIndex: number, direction: number, dimension: number, nowMs: number): number {
    const kind = this.#kinds[kindIndex];
    const slot = kind.slots[slotOf(direction, dimension)];
    return slot === -1 ? Infinity : mostOf(kind, slot, this.#time.at(nowMs));
  }

  /** Units in a slot's cluster bucket by own use alone; Infinity where nothing limits. */
  known(row: number, direction: number, dimension: number, nowMs: number): number {
    const unused = this.knownUnused(this.kindOf(row), direction, dimension, nowMs);
    return Math.max(0, unused - this.spent(row, slotOf(direction, dimension), nowMs));
  }

  /** Units in the cluster's bucket of a key without a row. */
  knownUnused(kindIndex: number, direction: number, dimension: number, nowMs: number): number {
    const { slots, depths, perSecond, time } = this.#kinds[kindIndex];
    const slot = slots[slotOf(direction, dimension)];
    if (slot === -1) return Infinity;
    const depth = depths[slot];
    if (time !== this.#emptyTime) return depth;
    return Math.min(depth, (Math.max(0, nowMs - this.#startedMs) * perSecond[slot]) / 1000);
  }

  /** Units that were taken unpublished and have not come back. @param of slot of a key (`slotOf` with a direction) */
  spent(row: number, of: number, nowMs: number): number {
    const kind = this.#kinds[this.kindOf(row)];
    const slot = kind.slots[of];
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

  /** Lists keys spent by more than `part`, the largest part first. */
  spentMost(part: number, max: number, nowMs: number): readonly SpentKey[] {
    const spent: SpentKey[] = [];
    for (const [name, row] of this.#rows.entries()) {
      if (this.isPublished(row)) continue;
      const { slots, depth } = this.#kinds[this.kindOf(row)];
      const units = SLOTS.map((slot) => this.spent(row, slot, nowMs));
      const parts = units.map((each, slot) => (each > 0 ? each / depth[slots[slot]] : 0));
      const most = Math.max(...parts);
      if (most > part) spent.push({ name, units, part: most });
    }
    return spent.sort((one, other) => other.part - one.part).slice(0, max);
  }

  /** Tests if the key is loud now. */
  isPublished(row: number): boolean {
    return this.#usedAt(row) === Infinity;
  }

  publish(row: number): void {
    this.#rows.linesOf(row)[this.#rows.offsetOf(row)] = Infinity;
  }

  /** Makes a key silent again. Its bucket begins empty: use while it was loud is no part of the unpublished bound. */
  fallSilent(row: number, nowMs: number): void {
    const lines = this.#rows.linesOf(row);
    const at = this.#rows.offsetOf(row);
    this.#empty(lines, at);
    lines[at] = this.#time.at(nowMs);
    const { perSecond } = this.#kinds[this.kindOf(row)];
    // Empty as it is, a bucket of depth 0 would pass for full.
    for (let slot = 0; slot < perSecond.length; slot++) if (perSecond[slot] === 0) lines[cellAt(at, slot)] = LACKING;
  }

  /**
   * Forgets full keys, and finds those to publish. It looks at the next `count` slots; a name may come twice.
   *
   *     forgotten       full since `fullForMs`
   *     to publish      in the log, and spent at this node. Until then they do not fill: the quota flows into the log's
   *                     bucket
   *
   * *Worked:* three nodes, 60 per minute. Two take 20 silently, and the third the whole bucket. A minute later that one
   * is full again. If the parts were, too, the next minute would bring 100 as well.
   *
   * @param isInLog tests if a group with these bits has a record
   */
  sweep(nowMs: number, fullForMs: number, count: number, isInLog: (bits: number) => boolean): Swept {
    const swept: Swept = { forgotten: [], spent: [] };
    if (this.#rows.size === 0) return swept;
    const fullBefore = this.#time.at(nowMs - fullForMs);
    let left = count - this.#rows.passEmpty(count);
    while (left > 0) {
      const row = this.#rows.atHand();
      if (this.#fullAt(row) <= fullBefore) {
        swept.forgotten.push(this.kindOf(row));
        // The hand stays: another key may have moved there.
        this.#rows.remove(row);
      } else {
        if (!this.isPublished(row) && isInLog(this.bitsOf(row)) && this.#holdBack(row, nowMs))
          swept.spent.push(this.#rows.nameOf(row));
        this.#rows.moveHand();
      }
      left -= 1 + this.#rows.passEmpty(left);
    }
    return swept;
  }

  /** Keeps a row from filling. False = next to nothing of it is spent. */
  #holdBack(row: number, nowMs: number): boolean {
    const hasSpent = SLOTS.some((slot) => this.spent(row, slot, nowMs) >= LEAST_SPENT);
    if (hasSpent) this.#rows.linesOf(row)[this.#rows.offsetOf(row)] = this.#time.at(nowMs);
    return hasSpent;
  }

  /** Makes room: forgets the least recently used full one of the next rows. Returns its kind, or −1 without one. */
  makeRoom(nowMs: number): number {
    let oldest = -1;
    let oldestUsedAt = Infinity;
    const now = this.#time.at(nowMs);
    const rows = Math.min(RECORDS_PER_CALL, this.#rows.size);
    for (let looked = 0; looked < rows; looked++, this.#rows.moveHand()) {
      this.#rows.passEmpty(Infinity);
      const row = this.#rows.atHand();
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

  /** Share time at which the buckets of a row are full; Infinity for a published key. */
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

/** The most units of a bucket now: its depth, except for some time after a start or a fall of N. */
function mostOf(kind: Kind, slot: number, now: number): number {
  if (now >= kind.wholeAt[slot]) return kind.depth[slot];
  return (kind.time.unused(kind.fillMs[slot], now) * kind.perSecond[slot]) / 1000;
}

/** Fills the initial lack of the bucket, then pays for spent units. */
function fill(lines: Float64Array, cell: number, kind: Kind, slot: number, since: number, now: number): void {
  const tokens = lines[cell];
  const spent = lines[cell + SPENT];
  const gained = (Math.max(0, now - since) * kind.perSecond[slot]) / 1000;
  lines[cell] = Math.min(mostOf(kind, slot, now), tokens + gained);
  lines[cell + SPENT] = spentAfter(gained, spent, mostOf(kind, slot, since) - tokens - spent);
}

/** Computes the spent units after a gain, which fills the lack first. */
function spentAfter(gained: number, spent: number, lacked: number): number {
  return Math.max(0, spent - Math.max(0, gained - Math.max(0, lacked)));
}

/** Units that are published once another node publishes: whole ones are charged. */
const LEAST_SPENT = 0.5;
/** Units in a bucket of depth 0 after loud use. */
const LACKING = -ROUNDING_ERROR;
/** Words of a line (key-rows.ts). */
const KIND = 2;
const BITS = 3;
const TOKENS = 2;
/** Numbers of a limited slot: its tokens, then the units spent here that have not come back. */
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
  /** Milliseconds in which the cluster's bucket fills; 0 where there is nothing to fill. */
  readonly fillMs: Float64Array;
  /** Units of this node per slot; below, the share time from which an unused bucket holds them. */
  readonly depth: Float64Array;
  readonly wholeAt: Float64Array;
}

/** Per direction and dimension. */
export const SLOTS = Array.from({ length: DIRECTION_COUNT * DIMENSION_COUNT }, (_, slot) => slot);

/** Divides the units that nodes may spend unpublished. */
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
  const [rates, whole, fills, depth, wholeAt] = columns;
  const kind = { time, mayStayUnpublished, slots, perSecond: rates, depths: whole, fillMs: fills, depth, wholeAt };
  divide(kind);
  return kind;
}
