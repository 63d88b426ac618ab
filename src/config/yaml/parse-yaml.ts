import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from 'yaml';
import { MISTAKES_MAX } from '../setting/config-error.js';
import type { ConfigPath, FoundMistake, Locate, Location } from '../setting/findings.js';
import { LIMIT_NAMES, rateKey } from '../setting/written-rate.js';

export interface ParsedYaml {
  readonly raw: unknown;
  readonly locate: Locate;
  /** Mistakes of the text itself. */
  readonly mistakes: readonly (FoundMistake & { readonly path: ConfigPath; readonly location: Location })[];
  /** False = no YAML at all: looking for mistakes in its content is vain. */
  readonly readable: boolean;
}

/** Reads YAML 1.2: one document, string keys, anchors and aliases. It knows no merge keys and no tags. Never throws. */
export function parseYaml(text: string): ParsedYaml {
  const opened = openYaml(text);
  if ('mistakes' in opened) return unreadable(opened.mistakes);
  const { document, lines } = opened;
  try {
    const raw: unknown = document.toJS({ maxAliasCount: ALIAS_COUNT_MAX });
    return { raw, locate: locator(document, lines), mistakes: keyMistakes(document, lines), readable: true };
  } catch (error) {
    return unreadable([withoutLine(error)]);
  }
}

export type OpenedYaml =
  | { readonly document: Document; readonly lines: LineCounter }
  | { readonly mistakes: ParsedYaml['mistakes'] };

/** Opens one YAML document as nodes. @param schema `failsafe` = every plain value is its text */
export function openYaml(text: string, schema: 'core' | 'failsafe' = 'core'): OpenedYaml {
  const deep = tooDeepAt(text);
  if (deep !== null) return { mistakes: [syntaxMistake(lineColumn(text, deep), 'nests too deeply')] };
  const lines = new LineCounter();
  // uniqueKeys compares every key with every other: 7 s for 20,000 groups. duplicateKeys() does it with a map.
  const options = { lineCounter: lines, prettyErrors: false, stringKeys: true, resolveKnownTags: false } as const;
  try {
    const document = parseDocument(text, { ...options, schema, version: '1.2', uniqueKeys: false });
    const wrong = [...document.errors, ...document.warnings];
    if (wrong.length === 0) return { document, lines };
    const mistakes = wrong.map(({ pos, code, message }) => {
      return syntaxMistake(locationAt(lines, pos[0]), PROBLEMS[code] ?? withoutQuotation(message));
    });
    return { mistakes: mistakes.slice(0, SYNTAX_MISTAKES_MAX) };
  } catch (error) {
    return { mistakes: [withoutLine(error)] };
  }
}

/** Tells of unknown or too many aliases, and merge keys of %YAML. */
function withoutLine(error: unknown): ParsedYaml['mistakes'][number] {
  return syntaxMistake({ line: 1, column: 1 }, withoutQuotation((error as Error).message));
}

/** Rewords what the parser tells programmers, for people who wrote the file. */
const NO_TAGS = 'a text that begins with ! needs quotes (there are no tags here)';
const PROBLEMS: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'a second document begins here (---)',
  TAG_RESOLVE_FAILED: NO_TAGS,
  BAD_COLLECTION_TYPE: NO_TAGS,
  BAD_DIRECTIVE: 'a line that begins with % is a directive, and there is no such one',
};

/** Drops text behind a colon: the parser quotes it, perhaps a password. */
function withoutQuotation(message: string): string {
  return message.replace(/(?<!or ): .*$/s, '').replace(/^Invalid escape sequence .*$/s, 'Invalid escape sequence');
}

/** Uses of one anchor; the yaml package multiplies aliases within aliases, so that nothing grows exponentially. */
const ALIAS_COUNT_MAX = 1000;

/**
 * The parser recurses: 200,000 open brackets do not end in an exception but abort the process (V8 runs out of memory
 * while it compiles a regular expression on the full stack). A configuration is five levels deep.
 */
const DEPTH_MAX = 64;

/** Finds where a line nests deeper than any configuration. Brackets, indentation and indicators count. */
function tooDeepAt(text: string): number | null {
  let offset = 0;
  let flowDepth = 0;
  let lineDepth = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') flowDepth++;
    else if (token === ']' || token === '}') flowDepth--;
    if (token[0] === '\n' || token[0] === '\r' || token === ',') lineDepth = 0;
    else if (token === '-' || token === '?' || token === ':') lineDepth++;
    if (flowDepth > DEPTH_MAX || lineDepth > DEPTH_MAX || isWideSpace(token)) return offset;
    if (!MARKERS.has(token)) offset += token.length;
  }
  return null;
}

function isWideSpace(token: string): boolean {
  return token.length > 4 * DEPTH_MAX && /^ +$/.test(token);
}

/** Tokens of the lexer that stand for no text: start of a document, of a flow error, of a plain scalar. */
const MARKERS: ReadonlySet<string> = new Set(['\u0002', '\u0018', '\u001f']);

function locator(document: Document, lines: LineCounter): Locate {
  let targets: ReadonlyMap<Alias, Node> | undefined;
  return (path, part) => {
    targets ??= aliasTargets(document);
    let found: Node | null = document.contents;
    let location = locationOf(found, lines) ?? { line: 1, column: 1 };
    for (const step of path) {
      const next = childOf(isAlias(found) ? (targets.get(found) ?? null) : found, step);
      if (next === null) return location;
      location =
        locationOf(part === 'key' || next.value === null ? (next.key ?? next.value) : next.value, lines) ?? location;
      found = next.value;
    }
    return location;
  };
}

interface Child {
  readonly key: Node | null;
  readonly value: Node | null;
}

/** Finds what aliases stand for, in one pass: Alias.resolve searches the whole document each time. */
export function aliasTargets(document: Document): ReadonlyMap<Alias, Node> {
  const anchors = new Map<string, Node>();
  const targets = new Map<Alias, Node>();
  visit(document, {
    Alias: (_, alias) => {
      const target = anchors.get(alias.source);
      if (target !== undefined) targets.set(alias, target);
    },
    Value: (_, node) => {
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return targets;
}

function childOf(node: Node | null, step: string | number): Child | null {
  if (isSeq(node)) return { key: null, value: (node.items[Number(step)] as Node | undefined) ?? null };
  if (!isMap(node)) return null;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step));
  return pair === undefined ? null : { key: pair.key as Node, value: pair.value as Node | null };
}

/** Finds keys written twice, and keys of limits without a value. */
function keyMistakes(document: Document, lines: LineCounter): ParsedYaml['mistakes'] {
  const mistakes: (FoundMistake & { path: ConfigPath; location: Location })[] = [];
  const look = (node: unknown, path: ConfigPath): void => {
    if (isSeq(node)) for (const [index, item] of node.items.entries()) look(item, [...path, index]);
    if (!isMap(node)) return;
    const first = new Map<string, Location>();
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      const name = String(key.value);
      const location = locationOf(key, lines) ?? { line: 1, column: 1 };
      const before = first.get(name);
      if (before !== undefined) mistakes.push({ ...duplicateKey(before), path: [...path, name], location });
      else first.set(name, location);
      if (LIMITING_KEYS.has(name) && isBlank(value)) mistakes.push({ ...BLANK, path: [...path, name], location });
      look(value, [...path, name]);
    }
  };
  look(document.contents, []);
  return mistakes.slice(0, MISTAKES_MAX);
}

/**
 * Keys of limits and of the sections that hold them. Such a key with nothing behind it is a mistake: a half-written
 * line or file would take the limit away. An explicit null takes it away on purpose.
 */
const LIMITING_KEYS: ReadonlySet<string> = new Set([
  'defaults',
  'groups',
  'quota',
  'limits',
  'perTopic',
  'perClient',
  'publish',
  'dispatch',
  'ramp',
  ...LIMIT_NAMES.map(rateKey),
  'fromPerSecond',
  'toPerSecond',
  'attachments',
  'scopes',
  'rules',
  'connectsPerSecond',
  'subscribesPerSecond',
]);

const BLANK: FoundMistake = {
  problem: 'has nothing behind it',
  allowed: 'a value, or null',
  remedy: 'Write its value, or null where there is to be none; 0 blocks.',
};

function isBlank(value: unknown): boolean {
  return value === null || (isScalar(value) && value.value === null && (value.source ?? '') === '');
}

function duplicateKey(before: Location): FoundMistake {
  const problem = `is written twice, first in line ${before.line}`;
  return { problem, allowed: 'each key once', remedy: 'Keep one of the two.' };
}

function syntaxMistake(location: Location, message: string): ParsedYaml['mistakes'][number] {
  const problem = `is not readable as YAML: ${message.replace(/\.$/, '')}`;
  return { path: [], location, problem, allowed: 'one YAML 1.2 document', remedy: 'Correct the syntax there.' };
}

function unreadable(mistakes: ParsedYaml['mistakes']): ParsedYaml {
  return { raw: null, locate: () => null, mistakes: mistakes.slice(0, SYNTAX_MISTAKES_MAX), readable: false };
}

/** Bounds complaints: one missing bracket can bring one for every line after. */
const SYNTAX_MISTAKES_MAX = 20;

function locationOf(node: Node | null, lines: LineCounter): Location | null {
  return node?.range ? locationAt(lines, node.range[0]) : null;
}

export function locationAt(lines: LineCounter, offset: number): Location {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function lineColumn(text: string, offset: number): Location {
  const before = text.slice(0, offset);
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') };
}
