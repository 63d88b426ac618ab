import { DIRECTION_COUNT, directionOfLane, lanesOf } from '../../core/base/vocabulary.js';
import { LaneSummary } from '../status/lane-summary.js';
import type { StatusParts } from '../status/status-parts.js';
import { NamedGroups } from './lane-sums.js';

/**
 * Keeps the lanes in the order of their heat: what is wanted of a lane, in quotas. A pass over all lanes takes as many
 * seconds as it needs, because 10,000 groups of 100 nodes have a million rows. The heat of lanes that somebody looks at
 * is noted every second besides.
 */
export class GroupHeat {
  readonly named: NamedGroups;
  readonly #parts: StatusParts;
  /** By lane; only of lanes that were looked at. */
  #heat = new Float64Array(64);
  #listed: number[] = [];
  #byHeat: number[] = [];
  #byName: number[] = [];
  #version = -1;
  #shownVersion = 0;
  #next = 0;
  #sortedAt = 0;
  #tick = 0;

  constructor(parts: StatusParts) {
    this.#parts = parts;
    this.named = new NamedGroups(parts);
  }

  /** Once a second. */
  tick(): void {
    this.#tick++;
    this.#listNew();
    this.#walk();
    if (this.#tick - this.#sortedAt < this.#listed.length / SORTED_PER_TICK) return;
    // Keys come and go with every request: they are listed no more often than lines are sorted.
    if (this.#shownVersion !== (this.#parts.keys?.shownVersion ?? 0)) this.#list();
    this.#sort();
  }

  /** Hottest first. */
  get byHeat(): readonly number[] {
    this.#listNew();
    return this.#byHeat;
  }

  get byName(): readonly number[] {
    this.#listNew();
    return this.#byName;
  }

  heatOf(lane: number): number {
    return this.#heat[lane] ?? 0;
  }

  /** The heat of a lane now, by what all nodes want of it. */
  note(lane: number, wanted: number): void {
    const { quota, shownDimension } = new LaneSummary(this.#parts, lane);
    const limit = quota[shownDimension];
    // A lane without a quota throttles nobody.
    this.#heat[lane] = Number.isFinite(limit) ? wanted / Math.max(limit, SMALLEST_QUOTA) : 0;
  }

  #listNew(): void {
    if (this.#version !== this.#parts.groups.version) this.#list();
  }

  /** A direction without a quota is listed only where the other one has none either: one line says it. */
  #list(): void {
    const { groups, keys } = this.#parts;
    this.#version = groups.version;
    this.#shownVersion = keys?.shownVersion ?? 0;
    this.#listed = [];
    for (const group of this.named.numbers()) {
      const lanes = lanesOf(group);
      const limited = lanes.filter((lane) => groups.ofLane(lane).quota[directionOfLane(lane)].some(Number.isFinite));
      this.#listed.push(...(limited.length === 0 ? lanes.slice(0, 1) : limited));
    }
    const needed = groups.size * DIRECTION_COUNT;
    if (needed > this.#heat.length) {
      const larger = new Float64Array(needed * 2);
      larger.set(this.#heat);
      this.#heat = larger;
    }
    this.#next = 0;
    const name = (lane: number) => groups.ofLane(lane).name;
    this.#byName = this.#listed
      .map((lane) => ({ lane, name: name(lane) }))
      .sort(byNameAndLane)
      .map(({ lane }) => lane);
    this.#sort();
    // Nothing is known of new lanes yet: the next second sorts them by their heat.
    this.#sortedAt = -Infinity;
  }

  #walk(): void {
    let rows = 0;
    for (let looked = 0; looked < Math.min(this.#listed.length, LANES_PER_TICK) && rows < ROWS_PER_TICK; looked++) {
      const lane = this.#listed[this.#next];
      const summary = new LaneSummary(this.#parts, lane);
      const asked = summary.wanted(summary.shownDimension);
      this.note(lane, asked.wanted);
      rows += asked.rows;
      this.#next = (this.#next + 1) % this.#listed.length;
    }
  }

  #sort(): void {
    this.#sortedAt = this.#tick;
    const heat = this.#heat;
    // Stable: lanes of the same heat stand in the order of their names.
    this.#byHeat = [...this.#byName].sort((one, other) => heat[other] - heat[one]);
  }
}

function byNameAndLane(one: { lane: number; name: string }, other: { lane: number; name: string }): number {
  return one.name === other.name ? one.lane - other.lane : one.name < other.name ? -1 : 1;
}

/** Most rows miss the cache: some ms a second with 10,000 groups of 100 nodes. */
const LANES_PER_TICK = 4000;
const ROWS_PER_TICK = 20_000;
/** Sorting 10,000 lanes takes 5 ms: those are sorted every five seconds. */
const SORTED_PER_TICK = 2000;
/** A quota of 0 that somebody wants is the hottest of all. */
const SMALLEST_QUOTA = 1e-9;
