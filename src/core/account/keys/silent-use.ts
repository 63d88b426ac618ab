import { DIMENSION_COUNT, DIRECTION_COUNT } from '../../base/vocabulary.js';
import { COUNTED_MS, COUNTED_PER_SECOND, NAMED_AGAIN_MS, NAMED_KEYS } from '../constants.js';

/** Units per second granted here of one direction of a silent key. */
export interface SilentGrant {
  readonly name: string;
  readonly direction: number;
  readonly messages: number;
  readonly bytes: number;
  /** The largest part of a quota. */
  readonly heat: number;
}

/** Selects the keys that heartbeats publish with names (core/report/key-names.ts). */
export interface PublishedKeys {
  /** Tests if the group's number was given to a key. */
  isKey(group: number): boolean;
  /** Tests if the key is loud now. */
  isPublished(name: string): boolean;
  /** Silent keys, those with the largest granted parts of a quota first. */
  readonly busiest: readonly SilentGrant[];
}

/**
 * Counts grants of silent keys, to find the busiest. Their rows hold only spent units that have not come back, which
 * are none for a key far below its quota.
 *
 * Up to COUNTED_PER_SECOND grants are all counted. Of more, one in `stride` on average counts `stride` times, at random
 * distances: at fixed ones customers that take turns would be met always or never. Worked: 10,000 grants/s, one in ten
 * is counted ten times; a key with 100/s is counted 50 times in 5 s, so its rate is exact to 14 %.
 */
export class SilentUse {
  /** Silent keys, the hottest first, counted over two turns. */
  busiest: readonly SilentGrant[] = [];
  #before: Counted = { units: new Map(), ms: 0 };
  #units = new Map<string, Float64Array>();
  #sinceMs: number;
  #counted = 0;
  #stride = 1;
  #untilCounted = 1;
  #random = 0x9e3779b9;

  constructor(nowMs: number) {
    this.#sinceMs = nowMs;
  }

  note(name: string, direction: number, messages: number, bytes: number): void {
    if (--this.#untilCounted <= 0) this.#count(name, direction, messages, bytes);
  }

  /** Ends a turn once COUNTED_MS have passed. @param heatOf largest part of a quota; 0 = not silent now */
  turn(nowMs: number, heatOf: (name: string, perSecond: Float64Array) => number): void {
    const ms = nowMs - this.#sinceMs;
    if (ms < COUNTED_MS) return;
    const now = { units: this.#units, ms };
    this.busiest = hottest(now, this.#before, heatOf);
    this.#before = now;
    this.#units = new Map();
    this.#sinceMs = nowMs;
    this.#stride = Math.max(1, (1000 * this.#counted * this.#stride) / (ms * COUNTED_PER_SECOND));
    this.#counted = 0;
  }

  #count(name: string, direction: number, messages: number, bytes: number): void {
    this.#counted++;
    // Evenly in 1 … 2 × stride − 1, by a generator of 32 bits.
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) | 0;
    this.#untilCounted = 1 + Math.floor(((this.#random >>> 0) / 2 ** 32) * (2 * this.#stride - 1));
    let units = this.#units.get(name);
    if (units === undefined) {
      if (this.#units.size >= NAMES_MAX) return;
      units = new Float64Array(SLOTS);
      this.#units.set(name, units);
    }
    const slot = direction * DIMENSION_COUNT;
    units[slot] += messages * this.#stride;
    units[slot + 1] += bytes * this.#stride;
  }
}

/** Units per name and slot, counted in `ms` milliseconds. */
interface Counted {
  readonly units: ReadonlyMap<string, Float64Array>;
  readonly ms: number;
}

function hottest(
  now: Counted,
  before: Counted,
  heatOf: (name: string, perSecond: Float64Array) => number,
): SilentGrant[] {
  const rates: SilentGrant[] = [];
  for (const name of new Set([...now.units.keys(), ...before.units.keys()])) {
    const [one, other] = [now.units.get(name), before.units.get(name)];
    const perSecond = Float64Array.from({ length: SLOTS }, (_, slot) => {
      return (1000 * ((one?.[slot] ?? 0) + (other?.[slot] ?? 0))) / (now.ms + before.ms);
    });
    const heat = heatOf(name, perSecond);
    if (heat === 0) continue;
    for (let direction = 0; direction < DIRECTION_COUNT; direction++) {
      const [messages, bytes] = perSecond.subarray(direction * DIMENSION_COUNT) as unknown as [number, number];
      if (messages > 0 || bytes > 0) rates.push({ name, direction, messages, bytes, heat });
    }
  }
  return rates.sort((one, other) => other.heat - one.heat).slice(0, BUSIEST_MAX);
}

const SLOTS = DIRECTION_COUNT * DIMENSION_COUNT;
/** Names of a turn; later ones wait for the next. */
const NAMES_MAX = COUNTED_PER_SECOND;
/** Most keys that a node publishes until their rows come again: NAMED_AGAIN_MS at a heartbeat per second. */
const BUSIEST_MAX = ((NAMED_KEYS / 4) * NAMED_AGAIN_MS) / 1000;
