import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAGE = readFileSync(join(ROOT, 'docs/operate/security.md'), 'utf8');
const NAME = /\b(?:chaos|conformance|deploy|fuzz|integration|long|property|simulation|unit)\/[\w/-]+/g;

/** A sentence or a row that promises something, and what stands there to hold it. */
interface Statement {
  readonly says: string;
  readonly heldBy: string;
}

/** What was broken for its width is one line again; brackets end a statement. */
const LINES = PAGE.replace(/\n {2,3}(?=\S)/g, ' ')
  .replace(/(?<=[^\]\n])\n(?=[^\n|#>-])(?!\d+\. )/g, ' ')
  .split('\n');
const rows = LINES.flatMap((line) => statementIn(line, /^\| (?!---|it may)(.*) \| ([^|]*) \|$/));
/** Items of lists must have brackets behind them; what else has them is a sentence that promises something. */
const sentences = LINES.flatMap((line) => {
  return statementIn(line, line.startsWith('- ') ? /^- (.*?)(?: \[([^\]]*)\])?$/ : /^(.+) \[([^\]]*)\]$/);
});

function statementIn(line: string, pattern: RegExp): Statement[] {
  const found = pattern.exec(line);
  return found === null ? [] : [{ says: found[1] ?? '', heldBy: found[2] ?? '' }];
}

describe('docs/operate/security.md', () => {
  test('has rows and items', () => {
    expect(rows.length).toBeGreaterThan(20);
    expect(sentences.length).toBeGreaterThan(20);
  });

  test.each([...rows, ...sentences])('names what holds: $says', ({ heldBy }) => {
    const names = heldBy.match(NAME) ?? [];
    expect(names.length > 0 || heldBy.includes('no promise'), heldBy).toBe(true);
    expect(names.filter((name) => !existsSync(join(ROOT, 'test', `${name}.test.ts`)))).toEqual([]);
  });

  test('names no test in another way, where nobody would look whether it is there', () => {
    expect(PAGE.match(/[\w/-]+\.test\.ts/g)).toEqual(null);
    const named = [...rows, ...sentences].flatMap(({ heldBy }) => heldBy.match(NAME) ?? []);
    expect(PAGE.match(NAME)?.filter((name) => !named.includes(name))).toEqual([]);
  });
});
