import type { BackendId } from '../base/vocabulary.js';
import { HEALTHY } from './throttling-ratio.js';

export interface ZoneLimit {
  zone: string;
  backend: BackendId;
  /** Least limit of the zone's backends; HEALTHY = none. */
  limit: number;
}

/**
 * Finds the limit that the zones of backends put on one group:
 *
 *     zone's limit = least of its backends        limit = the (m + 1)-th smallest zone's, m = zones left out
 *
 * *Worked:* m = 1: zones at 0.5, 0.9, 1.2 → 0.9 · one zone of ten at 0.5 → none · two of ten at 0.5 and 0.6 → 0.6.
 *
 * *Why:* a zone that is unhealthy alone is no sign of too much work, so the worst m are left out
 * (docs/background/foundationdb-tag-throttling.md, limiting rate). Of the z zones that the group works in, at most z −
 * 1 are left out. FoundationDB's rule never limits a group in a single zone, though there the zone's trouble is the
 * group's.
 */
export class WorstZones {
  readonly #zones: ZoneLimit[] = [];
  #count = 0;

  begin(): void {
    this.#count = 0;
  }

  /** Adds a backend that the group works on; `limit` HEALTHY = none. */
  add(zone: string, backend: BackendId, limit: number): void {
    let at = 0;
    while (at < this.#count && this.#zones[at].zone !== zone) at++;
    if (at === this.#count) this.#count++;
    else if (limit >= this.#zones[at].limit) return;
    const known = this.#zones[at];
    if (known === undefined) this.#zones[at] = { zone, backend, limit };
    else Object.assign(known, { zone, backend, limit });
  }

  /** Finds the zone that decides; null = no limit. The zones left out stand before it, worst first. */
  deciding(leaveOut: number): ZoneLimit | null {
    this.#sort();
    const at = this.leftOut(leaveOut);
    const zone = this.#zones[at];
    return at < this.#count && zone !== undefined && zone.limit !== HEALTHY ? zone : null;
  }

  leftOut(leaveOut: number): number {
    return Math.max(0, Math.min(leaveOut, this.#count - 1));
  }

  /** Returns the zones left out that would have limited. Worst first; only after `deciding`. */
  leftOutZones(leaveOut: number): readonly ZoneLimit[] {
    return this.#zones.slice(0, this.leftOut(leaveOut)).filter(({ limit }) => limit !== HEALTHY);
  }

  /**
   * Sorts by limit, then by name: all nodes leave out the same zones. Zones are few, and insertion sort allocates
   * nothing.
   */
  #sort(): void {
    for (let at = 1; at < this.#count; at++) {
      const zone = this.#zones[at];
      let to = at;
      while (to > 0 && isWorse(zone, this.#zones[to - 1])) {
        this.#zones[to] = this.#zones[to - 1];
        to--;
      }
      this.#zones[to] = zone;
    }
  }
}

function isWorse(one: ZoneLimit, other: ZoneLimit): boolean {
  if (one.limit !== other.limit) return one.limit < other.limit;
  return one.zone < other.zone;
}
