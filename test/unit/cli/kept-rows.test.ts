import { expect, test } from 'vitest';
import { KeptRows } from '../../../src/tools/cli/look/show-top.js';
import type { TopRow } from '../../../src/tools/cli/look/top-rows.js';

const row = (group: string, demand: number) =>
  ({ group, direction: 'publish', dimension: 'messages', demand }) as TopRow;
const shown = (rows: readonly TopRow[]) => rows.map(({ group, demand }) => `${group} ${demand}`);

test('a row that is no longer told keeps its place for ten refreshes, unused, and comes back there', () => {
  const kept = new KeptRows();
  const all = [row('a', 9), row('key:b', 5), row('c', 1)];
  const without = [row('a', 9), row('c', 1)];
  expect(shown(kept.with(all))).toEqual(['a 9', 'key:b 5', 'c 1']);
  for (let refresh = 0; refresh < 10; refresh++) expect(shown(kept.with(without))).toEqual(['a 9', 'key:b 0', 'c 1']);
  expect(shown(kept.with(without))).toEqual(['a 9', 'c 1']);
  expect(shown(kept.with(all))).toEqual(['a 9', 'key:b 5', 'c 1']);
  // One that comes and goes never makes the others jump.
  for (let refresh = 0; refresh < 30; refresh++) {
    const rows = kept.with(refresh % 3 === 0 ? all : without);
    expect(rows.map(({ group }) => group)).toEqual(['a', 'key:b', 'c']);
  }
});

test('rows that go all at once keep their order, and new ones come where they are sorted', () => {
  const kept = new KeptRows();
  kept.with([row('a', 3), row('b', 2), row('c', 1)]);
  expect(shown(kept.with([]))).toEqual(['a 0', 'b 0', 'c 0']);
  expect(shown(kept.with([row('d', 7)]))).toEqual(['a 0', 'b 0', 'c 0', 'd 7']);
  expect(shown(kept.with([row('c', 8), row('d', 7)]))).toEqual(['a 0', 'b 0', 'c 8', 'd 7']);
});
