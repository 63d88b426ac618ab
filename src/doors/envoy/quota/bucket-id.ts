/** Keys and values of a bucket, in no order. */
export type BucketId = Readonly<Record<string, string>>;

export interface IdEntry {
  readonly key: string;
  readonly value: string;
}

/** Writes an id so that equal ones are equal texts. */
export function textOf(id: BucketId): string {
  return JSON.stringify(Object.entries(id).sort(byKey));
}

/** Says what is wrong with an id; null = nothing. */
export function idProblem(id: BucketId): string | null {
  const entries = Object.entries(id);
  if (entries.length === 0) return 'has no entries';
  if (entries.length > ENTRIES_MAX) return `has ${entries.length} entries; at most ${ENTRIES_MAX} are allowed`;
  const bytes = entries.reduce((sum, [key, value]) => sum + Buffer.byteLength(key) + Buffer.byteLength(value), 0);
  return bytes > BYTES_MAX ? `has ${bytes} bytes; at most ${BYTES_MAX} are allowed` : null;
}

/**
 * Yields an id as descriptors, in all orders, by key first. *Why:* descriptors have an order, and the
 * rules for them; the map of an id has none.
 *
 * *Worked:* {user, path} → path, user; then user, path. More than four entries: by key alone.
 */
export function* ordersOf(id: BucketId): Generator<readonly IdEntry[]> {
  const entries = Object.entries(id)
    .sort(byKey)
    .map(([key, value]) => ({ key, value }));
  if (entries.length > PERMUTED_MAX) yield entries;
  else yield* permutations(entries);
}

function* permutations(entries: readonly IdEntry[]): Generator<readonly IdEntry[]> {
  if (entries.length <= 1) {
    yield entries;
    return;
  }
  for (const [at, first] of entries.entries()) {
    const others = entries.filter((_, other) => other !== at);
    for (const rest of permutations(others)) yield [first, ...rest];
  }
}

function byKey([one]: [string, string], [other]: [string, string]): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

const ENTRIES_MAX = 16;
/** A key of a template has at most as many. */
const BYTES_MAX = 1024;
/** 24 orders. */
const PERMUTED_MAX = 4;
