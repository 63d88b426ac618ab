import { DIRECTION_COUNT, directionOfLane, lanesOf } from '../../core/base/vocabulary.js';
import { LaneSummary } from '../status/lane-summary.js';
import type { StatusParts } from '../status/status-parts.js';
import { namedGroups } from './lane-sums.js';

/**
 * Orders lanes by heat: demand in quotas. A pass over all lanes takes seconds: 10,000 groups of 100 nodes have a
 * million rows. Watched lanes are noted every second.
 */
export class GroupHeat {
  readonly #parts: StatusParts;
  /** By lane, of lanes looked at. */
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
  }

  tick(): void {
    this.#tick++;
    this.#listNew();
    this.#walk();
    if (this.#tick - this.#sortedAt < this.#listed.length / SORTED_PER_TICK) return;
    // Keys come and go with every request: they are listed no more often than lines are sorted.
    if (this.#shownVersion !== (this.#parts.keys?.shownVersion ?? 0)) this.#list();
    this.#sort();
  }

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

  /** Notes the heat of a lane now, by all nodes' demand. */
  note(lane: number, wanted: number): void {
    const { quota, shownDimension } = new LaneSummary(this.#parts, lane);
    const limit = quota[shownDimension];
    // A lane without a quota throttles nobody.
    this.#heat[lane] = Number.isFinite(limit) ? wanted / Math.max(limit, SMALLEST_QUOTA) : 0;
  }

  #listNew(): void {
    if (this.#version !== this.#parts.groups.version) this.#list();
  }

  /** Lists lanes; a direction without a quota only where the other has none either. */
  #list(): void {
    const { groups, keys } = this.#parts;
    this.#version = groups.version;
    this.#shownVersion = keys?.shownVersion ?? 0;
    this.#listed = [];
    for (const group of namedGroups(this.#parts)) {
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
    this.#byName = this.#listed
      .map((lane) => ({ lane, name: groups.ofLane(lane).name }))
      .sort(byNameAndLane)
      .map(({ lane }) => lane);
    this.#sort();
    // New lanes are sorted by heat in the next second.
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
    // Stable: equal heat keeps the order of names.
    this.#byHeat = [...this.#byName].sort((one, other) => heat[other] - heat[one]);
  }
}

function byNameAndLane(one: { lane: number; name: string }, other: { lane: number; name: string }): number {
  return one.name === other.name ? one.lane - other.lane : one.name < other.name ? -1 : 1;
}

/** Lanes per tick: some ms with 10,000 groups of 100 nodes. */
const LANES_PER_TICK = 4000;
const ROWS_PER_TICK = 20_000;
/** Lanes sorted per tick: 10,000, at 5 ms, every five seconds. */
const SORTED_PER_TICK = 2000;
/** Quota that stands for 0: wanted, it is the hottest of all. */
const SMALLEST_QUOTA = 1e-9;
