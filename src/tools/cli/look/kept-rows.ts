import type { TopRow } from './top-rows.js';

/**
 * Keeps rows that are no longer told at their places for some refreshes, unused. A key that falls silent and speaks
 * again would make all lines below it jump.
 */
export class KeptRows {
  #last: readonly Kept[] = [];

  /** Adds to the rows of this refresh those of the last ones that are missing. */
  with(rows: readonly TopRow[]): TopRow[] {
    const told = new Set(rows.map(nameOf));
    const kept: Kept[] = rows.map((row) => ({ row, missing: 0 }));
    for (const [at, { row, missing }] of this.#last.entries()) {
      if (told.has(nameOf(row)) || missing === KEPT_REFRESHES) continue;
      kept.splice(at, 0, { row: { ...row, ...UNUSED }, missing: missing + 1 });
    }
    this.#last = kept;
    return kept.map(({ row }) => row);
  }
}

interface Kept {
  readonly row: TopRow;
  /** Refreshes without it. */
  readonly missing: number;
}

function nameOf({ group, direction, dimension }: TopRow): string {
  return `${direction} ${dimension} ${group}`;
}

const UNUSED = { usage: 0, demand: 0, throttled: 0, tokens: null, mostCharged: null, worstNode: null } as const;
/** With more a line that nobody uses stands longer; with less one that is used now and then goes and comes. */
const KEPT_REFRESHES = 10;
