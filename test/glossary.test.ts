import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { ERROR_CATALOGUE } from '../src/base/errors/catalogue.js';
import { codeOf } from './source-text.js';

/** Holds code, YAML, metrics, paths and errors to docs/reference/glossary.md. A failure names the file and the line. */
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PAGE = readFileSync(join(ROOT, 'docs/reference/glossary.md'), 'utf8');
const [WORDS = '', TYPED = ''] = PAGE.split('## What users type');
/** Words with one meaning, and those that they replace. Users know some of the latter by heart. */
const RULED = new Set(
  (
    'ask asks refund refunds scope scopes batch batches bulk bucket buckets bundle ' +
    'bundles round rounds level levels ceiling ceilings position positions offset offsets window span'
  ).split(' '),
);

interface Rule {
  readonly notCalled: readonly string[];
  readonly folders: readonly string[];
  readonly butFor: readonly string[];
}

const rules = rowsOf(WORDS).flatMap(([, , notCalled, folders, butFor]): Rule[] => {
  if (quoted(notCalled).length === 0) return [];
  return [{ notCalled: quoted(notCalled), folders: quoted(folders), butFor: quoted(butFor) }];
});
const split = new Map<string, string>();
const typed = rowsOf(TYPED).map(([name, kind]) => `${kind} ${quoted(name)[0]}`);

describe('code', () => {
  test.each(rules)('$notCalled is not said in $folders', ({ notCalled, folders, butFor }) => {
    const files = folders.flatMap((folder) => filesBelow(folder));
    expect(files).not.toEqual([]);
    const said = files.flatMap((path) => findings(readFileSync(join(ROOT, path), 'utf8'), path, notCalled, butFor));
    expect(said).toEqual([]);
  });

  test('a word is found as a part of identifiers, and not in comments or in texts', () => {
    const lines = ['const bucketOf = 1;', '// bucket', "say('bucket');", 'bucketing();', 'this.#dueBuckets;'];
    const found = findings(lines.join('\n'), 'a.ts', ['bucket', 'buckets'], []);
    expect(found).toEqual(['a.ts:1: bucketOf', 'a.ts:5: dueBuckets']);
    expect(findings('limiter.buckets.x', 'a.ts', ['buckets'], ['limiter.buckets'])).toEqual([]);
    expect(findings('Place; Placed; placeOf', 'a.ts', ['Place'], [])).toEqual(['a.ts:1: Place']);
    const texts = ['say("Place");', ['say(`Place $', '{Place}`);'].join(''), '/Place/.test(x);', 'a / Place / b;'];
    expect(findings(texts.join('\n'), 'a.ts', ['Place'], [])).toEqual(['a.ts:2: Place', 'a.ts:4: Place']);
  });

  test('of a document, what it shows as code is read', () => {
    const lines = ['A Place, a `Place`', '```ts', 'const at: Place = x;', '```', 'Place'];
    expect(findings(lines.join('\n'), 'a.md', ['Place'], [])).toEqual(['a.md:1: Place', 'a.md:3: Place']);
  });
});

describe('what users type', () => {
  const names = [
    ...yamlNames().map((name) => `YAML ${name}`),
    ...Object.keys(ERROR_CATALOGUE).map((name) => `error ${name}`),
    ...textsIn('src/doors/telemetry', /\bquotamesh_[a-z_]+/g).map((name) => `metric ${name}`),
    ...textsIn('src/doors/http', /(?<=')\/v1\/[a-z/-]+(?=')/g).map((name) => `path ${name}`),
  ];

  test('a name with a ruled word in it stands in the table, and no other does', () => {
    const ruled = names.filter((name) => partsOf(name.slice(name.indexOf(' '))).some((part) => RULED.has(part)));
    expect([...new Set(ruled)].sort()).toEqual([...typed].sort());
  });
});

function rowsOf(text: string): string[][] {
  const rows = text.split('\n').filter((line) => line.startsWith('| '));
  return rows
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter(([first]) => !['Word', 'Name', '---'].includes(first));
}

function quoted(cell = ''): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word]) => word);
}

/** Words in lower case are looked for among the parts of identifiers, others as identifiers. */
function findings(text: string, path: string, words: readonly string[], butFor: readonly string[]): string[] {
  const code = butFor.reduce((left, allowed) => left.replaceAll(allowed, ''), namesIn(text, path));
  return code.split('\n').flatMap((line, at) => {
    const identifiers = line.match(/[A-Za-z_][A-Za-z0-9_]*/g) ?? [];
    const said = identifiers.filter((name) =>
      words.some((word) => name === word || (word === word.toLowerCase() && partsOf(name).includes(word))),
    );
    return said.map((name) => `${path}:${at + 1}: ${name}`);
  });
}

function partsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/);
}

/** What identifiers are looked for in. Files are read for many rows, and split once. */
function namesIn(text: string, path: string): string {
  const names = split.get(text) ?? (path.endsWith('.md') ? shownIn(text) : codeOf(text));
  split.set(text, names);
  return names;
}

/** What a document shows as code: its fenced blocks and what stands between backticks. */
function shownIn(text: string): string {
  let inBlock = false;
  const lines = text.split('\n').map((line) => {
    const isFence = /^\s*```/.test(line);
    if (isFence) inBlock = !inBlock;
    if (isFence) return '';
    return inBlock ? line : quoted(line).join(' ');
  });
  return lines.join('\n');
}

/** Decisions keep the words of their day, the glossary has to name the old ones, vectors those of other systems. */
function filesBelow(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' });
  const kept = /(^|\/)(generated|vectors|decisions)\/|glossary\./;
  const isOurs = (path: string) => /\.(ts|md)$/.test(path) && !kept.test(path);
  return entries.filter(isOurs).map((path) => `${folder}/${path}`);
}

function textsIn(folder: string, pattern: RegExp): string[] {
  return filesBelow(folder).flatMap((path) => readFileSync(join(ROOT, path), 'utf8').match(pattern) ?? []);
}

/** Keys and choices of the schema of a node's configuration. */
function yamlNames(): string[] {
  const names: string[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { properties, enum: choices } = value as { readonly properties?: object; readonly enum?: unknown };
    if (typeof properties === 'object') names.push(...Object.keys(properties));
    if (Array.isArray(choices)) names.push(...choices.filter((choice) => typeof choice === 'string'));
    for (const part of Object.values(value)) walk(part);
  };
  walk(JSON.parse(readFileSync(join(ROOT, 'schema/node.schema.json'), 'utf8')));
  return names;
}
