/**
 * The known names nearest to a misspelled one, best first, at most three; for "did you mean". Distance is the number of
 * single-letter edits (insert, delete, replace, swap of neighbours) without regard to case, at most a third of the length.
 */
export function nearestNames(wanted: string, known: Iterable<string>): readonly string[] {
  const target = wanted.slice(0, LENGTH_MAX).toLowerCase();
  const limit = Math.max(1, Math.floor(target.length / 3));
  const near: { name: string; distance: number }[] = [];
  let looked = 0;
  for (const name of known) {
    if (++looked > CANDIDATES_MAX) break;
    const distance = editDistance(target, name.slice(0, LENGTH_MAX).toLowerCase(), limit);
    if (distance <= limit) near.push({ name, distance });
  }
  near.sort((one, other) => one.distance - other.distance || (one.name < other.name ? -1 : 1));
  return near.slice(0, 3).map(({ name }) => name);
}

/** `Did you mean "a" or "b"?`, or an empty text. */
export function didYouMean(wanted: string, known: Iterable<string>): string {
  const names = nearestNames(wanted, known).map((name) => `"${name}"`);
  return names.length === 0 ? '' : `Did you mean ${names.join(' or ')}?`;
}

// A request with an unknown group must not stop the event loop: the work is at most 10,000 × 64 × 64 cells, and rows
// end early once every cell is above the limit (a few milliseconds for 10,000 unlike names).
const CANDIDATES_MAX = 10_000;
const LENGTH_MAX = 64;

function editDistance(one: string, other: string, limit: number): number {
  if (Math.abs(one.length - other.length) > limit) return Number.POSITIVE_INFINITY;
  let beforeLast: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, column) => column);
  for (let row = 1; row <= one.length; row++) {
    const current = [row];
    let smallest = row;
    for (let column = 1; column <= other.length; column++) {
      const same = one[row - 1] === other[column - 1];
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + (same ? 0 : 1));
      const swapped = row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
      smallest = Math.min(smallest, cost);
    }
    // A swap can reach two rows back, but never below the smallest of this row.
    if (smallest > limit) return Number.POSITIVE_INFINITY;
    beforeLast = last;
    last = current;
  }
  return last[other.length]!;
}
