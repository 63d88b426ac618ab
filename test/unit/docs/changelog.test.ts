import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../../src/base/package/package-root.js';

/** A longer list belongs under headings: nobody reads it. */
const MOST_AT_THE_TOP = 40;

const text = readFileSync(new URL('CHANGELOG.md', PACKAGE_ROOT), 'utf8');
const [intro = '', ...versions] = text.split(/^## /m);

/** An entry with its further lines, as one line. */
function entriesOf(part: string): string[] {
  return part
    .split(/^- /m)
    .slice(1)
    .map((entry) => entry.split(/\n(?! {2})/)[0].replaceAll(/\s+/g, ' '));
}

test('the changelog says how a line is added, and its versions have numbers and dates', () => {
  expect(intro).toContain('A new line goes to the top of the newest version');
  expect(versions.length).toBeGreaterThan(0);
  for (const version of versions) expect(version).toMatch(/^\d+\.\d+\.\d+ — (unreleased|\d{4}-\d{2}-\d{2})\n/);
});

test('no entry stands twice, and few stand outside of a heading: a merge may bring back what was moved', () => {
  const all = entriesOf(text);
  expect(all.filter((entry, at) => all.indexOf(entry) !== at)).toEqual([]);
  for (const version of versions) {
    const [top = ''] = version.split(/^### /m);
    expect(entriesOf(top).length, 'move lines under the headings below them').toBeLessThanOrEqual(MOST_AT_THE_TOP);
  }
});
