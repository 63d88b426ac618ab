import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const ROOT = new URL('../../../', import.meta.url);
const textOf = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');

interface MeasuredCode {
  readonly FIGURES: Readonly<Record<string, { readonly name: string; readonly code: readonly string[] }>>;
  readonly readTable: () => Readonly<Record<string, { readonly commit: string; readonly code: string }>>;
  readonly codeHash: (paths: readonly string[], folder?: string) => string;
  readonly staleness: (command: string, table?: object) => string | null;
}
const { FIGURES, readTable, codeHash, staleness } = (await import(
  new URL('scripts/measured-code.mjs', ROOT).href
)) as MeasuredCode;

/** Rows of README's table of figures: figure, value, command. */
function figuresOf(readme: string): readonly (readonly [figure: string, value: string, command: string | null])[] {
  const [, table = ''] = /\n\| \| measured \| by \|\n\| --- \| --- \| --- \|\n((?:\|.*\n)+)/.exec(readme) ?? [];
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const [, figure = '', value = '', by = ''] = line.split('|').map((cell) => cell.trim());
      return [figure, value, /^`([^`]+)`$/.exec(by)?.[1] ?? null];
    });
}

/** What is wrong with the figures of a README. */
function mistakesOf(readme: string, table: object, figures: string): string[] {
  return figuresOf(readme).flatMap(([figure, value, command]) => {
    if (!/\d/.test(value)) return [`${figure}: no figure`];
    if (command === null) return [`${figure}: names no command`];
    if (FIGURES[command] === undefined) return [`${figure}: scripts/measured-code.mjs knows no ${command}`];
    if (!Object.hasOwn(table, command)) return [`${figure}: ${command} has no row in measured-code.json`];
    return figures.includes(`\`${command}`) ? [] : [`${figure}: figures.md does not name ${command}`];
  });
}

test('every figure of README names its command, which has been run at a commit', () => {
  const readme = textOf('README.md');
  const { scripts } = JSON.parse(textOf('package.json'));
  expect(figuresOf(readme).length).toBeGreaterThan(2);
  expect(mistakesOf(readme, readTable(), textOf('docs/reference/figures.md'))).toEqual([]);
  for (const [, , command] of figuresOf(readme)) {
    const [, script] = /^npm (?:run )?([\w:]+)/.exec(command as string) ?? [];
    expect(scripts).toHaveProperty([script]);
  }
  for (const { commit, code } of Object.values(readTable())) {
    expect(commit).toMatch(/^[0-9a-f]{8,40}$/);
    expect(code).toMatch(/^[0-9a-f]{16}$/);
  }
});

test('a figure without a command, or with one that nobody has run, is found', () => {
  const readme = (by: string) => `\n| | measured | by |\n| --- | --- | --- |\n| a decision | 0.07 µs | ${by} |\n`;
  const table = { 'npm run bench:limiter': {} };
  const known = '`npm run bench:limiter`';
  expect(mistakesOf(readme(known), table, known)).toEqual([]);
  expect(mistakesOf(readme(''), table, known)).toEqual(['a decision: names no command']);
  expect(mistakesOf(readme('by hand'), table, known)).toEqual(['a decision: names no command']);
  expect(mistakesOf(readme('`npm run bench:new`'), table, known)[0]).toContain('knows no npm run bench:new');
  expect(mistakesOf(readme(known), {}, known)[0]).toContain('has no row in measured-code.json');
  expect(mistakesOf(readme(known), table, '')[0]).toContain('figures.md does not name');
});

test('code that has changed by more than a comment is another than was measured', () => {
  const folder = mkdtempSync(join(tmpdir(), 'measured-code-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'src/core'), { recursive: true });
  const hashWith = (text: string) => {
    writeFileSync(join(folder, 'src/core/a.ts'), text);
    return codeHash(['src'], folder);
  };
  const code = 'export function two(): number {\n  return 2;\n}\n';
  const before = hashWith(code);
  expect(hashWith(`/**\n * Gives two.\n */\n${code.replace('  return', '\n  // Half of four.\n  return')}`)).toBe(
    before,
  );
  expect(hashWith(code.replace('2;', '3;'))).not.toBe(before);
  expect(hashWith(`${code}export const URL = 'https://example.org/*';\n`)).not.toBe(hashWith(code));
  writeFileSync(join(folder, 'src/core/b.ts'), 'export {};\n');
  expect(codeHash(['src'], folder)).not.toBe(before);
});

test('what is stale says which command to run', () => {
  const command = 'npm run bench:limiter';
  const code = codeHash(FIGURES[command].code);
  expect(staleness(command, { [command]: { commit: '0123abcd', code } })).toBeNull();
  expect(staleness(command, { [command]: { commit: '0123abcd', code: 'other' } })).toMatch(
    /ran at 0123abcd, and bench\/limiter\.ts.* have changed since: run npm run figures -- limiter,/,
  );
  expect(staleness('npm run bench:new', {})).toContain('has no row in scripts/measured-code.mjs');
});

test('the code behind every figure of README is what was measured, but for comments', () => {
  const commands = figuresOf(textOf('README.md')).map(([, , command]) => command as string);
  expect(commands.length).toBeGreaterThanOrEqual(4);
  expect(commands.map((command) => staleness(command)).filter((why) => why !== null)).toEqual([]);
});
