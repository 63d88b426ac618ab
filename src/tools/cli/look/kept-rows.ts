import type { TopRow } from './top-rows.js';

/** Keeps vanished rows in place for some refreshes, unused, so that lines do not jump. */
export class KeptRows {
  #last: readonly Kept[] = [];

  /** Adds the last refreshes' missing rows. */
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
  readonly missing: number;
}

function nameOf({ group, direction, dimension }: TopRow): string {
  return `${direction} ${dimension} ${group}`;
}

const UNUSED = { usage: 0, demand: 0, throttled: 0, tokens: null, mostCharged: null, worstNode: null } as const;
/** Refreshes; more keeps unused lines longer, less makes rare ones come and go. */
const KEPT_REFRESHES = 10;
