/**
 * Finds at most three known names near a misspelled one, best first. Distance counts single-letter edits and swaps,
 * case-blind; at most three, and a third of the length.
 */
export function nearestNames(wanted: string, known: Iterable<string>): readonly string[] {
  const target = wanted.slice(0, LENGTH_MAX).toLowerCase();
  const limit = Math.max(1, Math.min(DISTANCE_MAX, Math.floor(target.length / 3)));
  const near: { name: string; distance: number }[] = [];
  let looked = 0;
  for (const name of known) {
    if (++looked > CANDIDATES_MAX) break;
    const distance = editDistance(target, name.slice(0, LENGTH_MAX).toLowerCase(), limit);
    if (distance <= limit) near.push({ name, distance });
  }
  // The begun one of equally near names comes first.
  const isBegun = ({ name }: { name: string }) => name.toLowerCase().startsWith(target);
  near.sort((one, other) => {
    const nearer = one.distance - other.distance || Number(isBegun(other)) - Number(isBegun(one));
    return nearer || (one.name < other.name ? -1 : 1);
  });
  return near.slice(0, 3).map(({ name }) => name);
}

/** Writes `Did you mean "a" or "b"?`, or nothing. */
export function didYouMean(wanted: string, known: Iterable<string>): string {
  const names = nearestNames(wanted, known).map((name) => `"${name}"`);
  return names.length === 0 ? '' : `Did you mean ${names.join(' or ')}?`;
}

/** Tests if an unknown name nearly is one of `known`. */
export function hasMisspelled(unknown: readonly string[], known: readonly string[]): boolean {
  return unknown.some((name) => nearestNames(name, known).length > 0);
}

// Bounds one look: 10,000 names × 64 letters × 7 cells.
const CANDIDATES_MAX = 10_000;
const LENGTH_MAX = 64;
const DISTANCE_MAX = 3;

/** Three rows of the table of distances, reused: the function does not call itself. */
const ROWS = [new Uint8Array(LENGTH_MAX + 2), new Uint8Array(LENGTH_MAX + 2), new Uint8Array(LENGTH_MAX + 2)];

/** Computes the restricted Damerau–Levenshtein distance near the diagonal; `limit + 1` = above `limit`. */
function editDistance(one: string, other: string, limit: number): number {
  const tooFar = limit + 1;
  if (Math.abs(one.length - other.length) > limit) return tooFar;
  let [beforeLast, last, current] = ROWS as [Uint8Array, Uint8Array, Uint8Array];
  for (let column = 0; column <= other.length; column++) last[column] = Math.min(column, tooFar);
  for (let row = 1; row <= one.length; row++) {
    const from = Math.max(1, row - limit);
    const to = Math.min(other.length, row + limit);
    current[from - 1] = from === 1 ? Math.min(row, tooFar) : tooFar;
    let smallest = current[from - 1];
    for (let column = from; column <= to; column++) {
      const replace = last[column - 1] + (one[row - 1] === other[column - 1] ? 0 : 1);
      let cost = Math.min(tooFar, replace, last[column] + 1, current[column - 1] + 1);
      if (row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1]) {
        cost = Math.min(cost, beforeLast[column - 2] + 1);
      }
      current[column] = cost;
      if (cost < smallest) smallest = cost;
    }
    current[to + 1] = tooFar;
    // A swap reaches two rows back, but never below the smallest of this row.
    if (smallest > limit) return tooFar;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return last[other.length];
}
