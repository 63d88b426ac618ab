import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { commentsOf, foldedLiterals } from './source-text.js';

/** The rules of the source text that no linter checks. Each failure names file and line. */
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const FUNCTION_LINES_MAX = 50;
const CORE_FUNCTION_LINES_MAX = 40;
/** The composition root is one list of parts, each with what it is made from: cut up, it would hand half of them around. */
const ASSEMBLY = 'src/node/loop/assemble-node.ts';
const WIDTH_MAX = 120;
const BANNED_NAMES = /(^|-)(utils?|helpers?|managers?|data|common|misc|stuff|index)\./;
/** The one list of exports. */
const INDEX_ALLOWED = 'src/index.ts';
/** Comments outside of the core and the simulator, until somebody wraps them. */
const COMMENT_WIDTH_MAX = 160;

/** Folders whose comments begin with a verb, or with the noun that they describe. */
const PLAINLY_SAID = ['src/', 'sim/'];

const FIRST_SENTENCE_WORDS_MAX = 12;

/** Hands over members that no type has, which a spread literal hides from the compiler. */
const EXCESS_MEMBERS = 'test/vectors/read-vectors.test.ts';

interface SourceFile {
  readonly path: string;
  readonly lines: readonly string[];
}

interface Mend {
  readonly module: string;
  readonly find: string;
}

function filesUnder(...folders: readonly string[]): SourceFile[] {
  return folders
    .flatMap((folder) => walk(join(ROOT, folder)))
    .map((path) => {
      const lines = readFileSync(path, 'utf8').replace(/\n$/, '').split('\n');
      return { path: relative(ROOT, path), lines };
    });
}

function walk(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return ['generated', 'node_modules', 'dist'].includes(entry.name) ? [] : walk(path);
    return /\.(ts|mjs)$/.test(entry.name) ? [path] : [];
  });
}

function linesMatching(files: readonly SourceFile[], rule: (line: string, path: string) => boolean): string[] {
  return files.flatMap(({ path, lines }) =>
    lines.flatMap((line, at) => (rule(line, path) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
  );
}

const own = filesUnder('src', 'sim');
const core = own.filter(({ path }) => path.startsWith('src/core/'));
const sim = own.filter(({ path }) => path.startsWith('sim/'));
const everything = filesUnder('src', 'sim', 'test', 'bench', 'scripts', 'examples');

describe('sizes', () => {
  test(`no function has more than ${FUNCTION_LINES_MAX} lines, none of the core more than ${CORE_FUNCTION_LINES_MAX}`, () => {
    const long = own.flatMap(({ path, lines }) => {
      if (path === ASSEMBLY) return [];
      const most = path.startsWith('src/core/') ? CORE_FUNCTION_LINES_MAX : FUNCTION_LINES_MAX;
      return functionsIn(lines).flatMap(({ line, length }) =>
        length > most ? [`${path}:${line}: ${length} lines`] : [],
      );
    });
    expect(long).toEqual([]);
  });

  test(`no line is wider than ${WIDTH_MAX}; texts are not broken, comments elsewhere may have ${COMMENT_WIDTH_MAX}`, () => {
    const wide = linesMatching(everything, (line, path) => {
      const width = [...line].length;
      if (isComment(line)) return width > (/^(src\/core|sim)\//.test(path) ? WIDTH_MAX : COMMENT_WIDTH_MAX);
      return width > WIDTH_MAX && !isText(line);
    });
    expect(wide).toEqual([]);
  });

  test('paragraphs of documents are filled to one width', () => {
    const command = [join(ROOT, 'scripts/wrap-docs.mjs'), '--check'];
    expect(spawnSync(process.execPath, command, { encoding: 'utf8' }).stdout).toBe('0 pages to fill\n');
  });
});

describe('comments and literals', () => {
  const texts = everything.map(({ path, lines }) => ({ path, text: lines.join('\n') }));

  test('no comment begins with a bare "Of", "Those of" or "Whoever": a sentence has a subject', () => {
    const headless = texts.flatMap(({ path, text }) =>
      commentsOf(text).flatMap(({ line, text: said }) =>
        /^(Of|Those of|That of|Whoever)\b/.test(said) ? [`${path}:${line}: ${said}`] : [],
      ),
    );
    expect(headless).toEqual([]);
  });

  test('no comment begins with a question word in place of a verb', () => {
    const asking = texts.flatMap(({ path, text }) => {
      if (!PLAINLY_SAID.some((folder) => path.startsWith(folder))) return [];
      return commentsOf(text).flatMap(({ line, text: said }) =>
        /^(What|Whether|How|Who|Whose|Whom|Where|Which|Of)\b/.test(said) ? [`${path}:${line}: ${said}`] : [],
      );
    });
    expect(asking).toEqual([]);
  });

  test(`a doc comment begins with a sentence of at most ${FIRST_SENTENCE_WORDS_MAX} words`, () => {
    const long = texts.flatMap(({ path, text }) => {
      if (!PLAINLY_SAID.some((folder) => path.startsWith(folder))) return [];
      const lines = text.split('\n');
      return commentsOf(text).flatMap(({ line, text: said }) => {
        const [first] = said.split(/(?<=[.:;]) /);
        const isLong = first.split(' ').length > FIRST_SENTENCE_WORDS_MAX;
        return isLong && lines[line - 1].includes('/**') ? [`${path}:${line}: ${first}`] : [];
      });
    });
    expect(long).toEqual([]);
  });

  test('no literal is spread into another one where its members could stand themselves', () => {
    const folded = texts.flatMap(({ path, text }) =>
      path === EXCESS_MEMBERS ? [] : foldedLiterals(text).map((line) => `${path}:${line}`),
    );
    expect(folded).toEqual([]);
  });

  test('both are found, and what only looks like them is not', () => {
    const lines = [
      "const text = 'Of // Of';",
      '// Of a',
      '// b',
      'x; // Whoever',
      '/** c',
      ' * Of */',
      'f(`//`); // d',
    ];
    expect(commentsOf(lines.join('\n'))).toEqual([
      { line: 2, text: 'Of a b' },
      { line: 4, text: 'Whoever' },
      { line: 5, text: 'c Of' },
      { line: 7, text: 'd' },
    ]);
    const literals = [
      'f({',
      ' ...{ a, b },',
      ' c,',
      '});',
      '[...[1, 2], 3];',
      "[...['...{}'].map(g)];",
      '({ ...base, ...[] })',
    ];
    expect(foldedLiterals(literals.join('\n'))).toEqual([2, 5, 7]);
  });
});

describe('the core', () => {
  test('imports nothing but the core', () => {
    const foreign = core.flatMap(({ path, lines }) =>
      importsOf(lines).flatMap((target) => {
        const resolved = relative(ROOT, join(ROOT, dirname(path), target));
        return target.startsWith('.') && resolved.startsWith('src/core/') ? [] : [`${path} imports ${target}`];
      }),
    );
    expect(foreign).toEqual([]);
  });

  test('has no clock, no randomness, no process and nothing asynchronous', () => {
    const impure = [
      /\bDate\b/,
      /Math\.random/,
      /\bprocess\./,
      /performance\./,
      /\bconsole\./,
      /\b(async|await|Promise)\b/,
    ];
    impure.push(/\bset(Timeout|Interval|Immediate)\b/);
    const isImpure = (line: string) => impure.some((pattern) => pattern.test(withoutComment(line)));
    expect(linesMatching(core, isImpure)).toEqual([]);
  });
});

describe('the simulator', () => {
  /**
   * The baselines are other systems: how they come to a limit is theirs, and is nowhere else in the project. They may
   * compute one, but not by our strategies, or they would be judged by what they are compared with.
   */
  const ours = sim.filter(({ path }) => !path.startsWith('sim/baselines/'));

  test('never computes a share: of the convergence it knows types and the names of the strategies only', () => {
    const computing = linesMatching(ours, (line) => {
      if (!/from '.*\/core\/(convergence|share)\//.test(line)) return false;
      return !/^import type /.test(line) && !/convergence\/strategies\.js/.test(line);
    });
    expect(computing).toEqual([]);
    // The oracle asks nodes what they compute, to compare the answers; it acts on none.
    const acting = ours.filter(({ path }) => path !== 'sim/oracle/share-law.ts');
    expect(linesMatching(acting, (line) => /\.converge\(|STRATEGIES\b|waterFill/.test(line))).toEqual([]);
  });

  test('the baselines use nothing of our convergence, shares, reports or map', () => {
    const baselines = sim.filter(({ path }) => path.startsWith('sim/baselines/'));
    const foreign = linesMatching(baselines, (line) => /from '.*\/src\/(?!core\/limiter\/)/.test(line));
    expect(foreign).toEqual([]);
    expect(baselines).not.toEqual([]);
  });
});

describe('names and leftovers', () => {
  test('no file is named after nothing', () => {
    const banned = everything.filter(({ path }) => BANNED_NAMES.test(basename(path)) && path !== INDEX_ALLOWED);
    expect(banned.map(({ path }) => path)).toEqual([]);
  });

  test('files are named in kebab case', () => {
    const odd = everything.filter(
      ({ path }) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|d))?\.(ts|mjs)$/.test(basename(path)),
    );
    expect(odd.map(({ path }) => path)).toEqual([]);
  });

  test('no test is skipped without a printed reason, and none runs alone', () => {
    const tests = everything.filter(({ path }) => path.startsWith('test/'));
    const alone = /\b(test|it|describe|suite)(\.\w+)*\.only\b/;
    const skipped = /\b(test|it|describe|suite)(\.\w+)*\.(skip|todo)\b|\bx(it|describe|test)\(/;
    expect(
      linesMatching(tests, (line, path) => path !== 'test/tidy.test.ts' && (alone.test(line) || skipped.test(line))),
    ).toEqual([]);
  });

  test('every mend that `npm run mutants -- --mends` takes out stands in the source, once', () => {
    const mends: readonly Mend[] = JSON.parse(readFileSync(join(ROOT, 'scripts/mutants/mends.json'), 'utf8'));
    const missed = mends.filter(
      ({ module, find }) => readFileSync(join(ROOT, module), 'utf8').split(find).length !== 2,
    );
    expect(missed.map(({ module, find }) => `${module}: ${find.trim()}`)).toEqual([]);
  });

  test('nothing is left to do', () => {
    const marks = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'].join('|')})\\b`);
    expect(linesMatching(everything, (line, path) => path !== 'test/tidy.test.ts' && marks.test(line))).toEqual([]);
  });
});

/**
 * Functions and methods by the indentation that the formatter gives them: the brace that closes one stands where its
 * line begins.
 */
function functionsIn(lines: readonly string[]): { line: number; length: number }[] {
  const found: { line: number; length: number }[] = [];
  lines.forEach((line, at) => {
    if (!opensFunction(line)) return;
    const indent = line.slice(0, line.length - line.trimStart().length);
    const end = lines.findIndex((later, index) => index > at && later.startsWith(`${indent}}`));
    if (end !== -1) found.push({ line: at + 1, length: end - at + 1 });
  });
  return found;
}

function opensFunction(line: string): boolean {
  if (!line.endsWith('{')) return false;
  const text = line.trim();
  if (
    /^(\} else|if|for|while|switch|catch|try|class|interface|export (interface|class|abstract)|do|return \{)\b/.test(
      text,
    )
  )
    return false;
  return (
    /\bfunction\b.*\{$/.test(text) ||
    /=> \{$/.test(text) ||
    /^[#\w<>, ]*\(.*\)(: .+)? \{$/.test(text) ||
    /^\}?\)(: .+)? \{$/.test(text)
  );
}

function importsOf(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const match = /(?:^import\b|^export\b|^\}).*\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/.exec(line);
    const target = match?.[1] ?? match?.[2] ?? match?.[3];
    return target === undefined ? [] : [target];
  });
}

function isComment(line: string): boolean {
  return /^\s*(\/\/|\*|\/\*)/.test(line);
}

/** A line that holds a string, or is a line of a longer one. */
function isText(line: string): boolean {
  return /['"`].*['"`]/.test(line) || /^[A-Z][a-z]* [a-z]/.test(line);
}

/** Without what only looks like code. */
function withoutComment(line: string): string {
  return isComment(line) ? '' : line.replace(/\/\/.*$/, '').replace(/'[^']*'/g, "''");
}
