import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { betweenFolders, cyclesOf, foldersBelow, type Import, importsIn, sourceFiles } from './import-graph.js';
import { codeOf } from './source-text.js';

/**
 * The rooms of src and sim: who may import whom, and that every folder says what it is for. A failure names the import
 * or the folder.
 */
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
/** From the ground up: what stands on a floor imports of it and of those before it. */
const FLOORS = ['base', 'core', 'config', 'topic', 'node', 'doors', 'tools'].map((name) => `src/${name}`);
/** Floors that are one room each: their folders are steps of one thing. */
const ONE_ROOM = ['config', 'topic'];
const README_LINES_MAX = 15;
const FILES_PER_FOLDER_MAX = 30;
/** The sources of the vectors and the files of a chaos run are tables, one row each. */
const TABLES = ['test/vectors', 'test/chaos'];
/** The stories are data, and a list of them is what their folder is for. */
const LISTS = ['sim/scenarios'];
/** What the subpaths of the package export, each for its own framework. */
const NAMED_BY_DOORS = ['quota', 'QuotaOptions'];
/** The list of the kinds of topics names what stands a floor above it: each kind brings its own settings. */
const LIST_OF_KINDS = 'src/config/schema/topic-kinds.ts';
const imports = importsIn(ROOT, ['src', 'sim']);
const edges = betweenFolders(imports);
const rooms = [...foldersBelow(ROOT, 'src'), ...foldersBelow(ROOT, 'sim')];
const folders = [...rooms, ...foldersBelow(ROOT, 'test')];

describe('imports', () => {
  test('the graph is read: a thousand imports of all four kinds', () => {
    expect(imports.length).toBeGreaterThan(1000);
    expect(new Set(imports.map(({ kind }) => kind))).toEqual(new Set(['value', 'type', 'dynamic', 'thread']));
  });

  test('a cycle is found, and a line of imports is none', () => {
    const line = [
      { from: 'a', to: 'b' },
      { from: 'b', to: 'c' },
      { from: 'a', to: 'c' },
    ];
    expect(cyclesOf(line)).toEqual([]);
    expect(cyclesOf([...line, { from: 'c', to: 'b' }])).toEqual([['b', 'c']]);
    expect(cyclesOf([...line, { from: 'c', to: 'a' }])).toEqual([['a', 'b', 'c']]);
  });

  test('no folders import each other by value', () => {
    expect(cyclesOf(edges.filter(({ kind }) => kind === 'value'))).toEqual([]);
  });

  test('no folders import each other by value or type', () => {
    expect(cyclesOf(edges)).toEqual([]);
  });

  test('no files import each other by value', () => {
    expect(cyclesOf(imports.filter(({ kind }) => kind === 'value'))).toEqual([]);
  });

  test('the core imports the core only, and each floor those below it', () => {
    expect(beyond('src/core', ['src/core'])).toEqual([]);
    expect(inner('src').sort()).toEqual([...FLOORS].sort());
    for (const [height, floor] of FLOORS.entries()) {
      const below = floor === 'src/tools' ? [...FLOORS, 'sim'] : FLOORS.slice(0, height + 1);
      expect(beyond(floor, below)).toEqual([]);
    }
    expect(beyond('src/node/api', ['src/node/api', 'src/core', 'src/base'])).toEqual([]);
  });

  test('production imports nothing of the simulator, but for the commands, the demonstration and their load', () => {
    const allowed = ['src/tools/cli', 'src/tools/demo', 'src/tools/load'];
    const all = imports.filter(({ from, to }) => from.startsWith('src/') && to.startsWith('sim/'));
    expect(all.filter(({ from }) => !allowed.some((room) => from.startsWith(`${room}/`))).map(inWords)).toEqual([]);
  });

  test('every room imports only what its README allows', () => {
    const wrong = rooms.flatMap((folder) => {
      const allowed = allowedBy(folder);
      if (allowed === null) return [];
      return imports
        .filter(({ from, to }) => dirname(from) === folder && roomOf(to) !== roomOf(from))
        .filter(({ to }) => !allowed.includes(roomOf(to)))
        .map((one) => `${inWords(one)}: ${folder}/README.md does not allow ${roomOf(one.to)}`);
    });
    expect(wrong).toEqual([]);
  });
});

describe('every folder', () => {
  test(`has a README of at most ${README_LINES_MAX} lines`, () => {
    const wrong = folders.flatMap((folder) => {
      if (!existsSync(join(ROOT, folder, 'README.md'))) return [`${folder} has no README.md`];
      const lines = readmeOf(folder).trimEnd().split('\n').length;
      return lines > README_LINES_MAX && !TABLES.includes(folder) ? [`${folder}/README.md has ${lines} lines`] : [];
    });
    expect(wrong).toEqual([]);
  });

  test(`of src and sim has at most ${FILES_PER_FOLDER_MAX} files`, () => {
    const full = rooms
      .filter((folder) => !LISTS.includes(folder))
      .map((folder) => ({ folder, files: filesIn(folder) }))
      .filter(({ files }) => files > FILES_PER_FOLDER_MAX);
    expect(full).toEqual([]);
  });

  test('that is a room of src has a line in ARCHITECTURE.md', () => {
    const map = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
    const wanted = FLOORS.flatMap((floor) => [floor, ...(ONE_ROOM.includes(basename(floor)) ? [] : inner(floor))]);
    expect(wanted.filter((folder) => !map.includes(`\`${folder}\``))).toEqual([]);
  });

  test('of src, its core and sim has tests under its name, or a line in docs/contribute/run-one-test.md', () => {
    const page = readFileSync(join(ROOT, 'docs/contribute/run-one-test.md'), 'utf8');
    const core = rooms.filter((room) => room.startsWith('src/core/')).map((room) => `core/${basename(room)}`);
    const all = [
      'src/config',
      'src/topic',
      ...['base', 'node', 'doors', 'tools'].flatMap((floor) => inner(`src/${floor}`)),
      ...inner('sim'),
    ];
    const named = [...core, ...all.filter((room) => room !== 'sim/scenarios').map((room) => basename(room))];
    const untested = named.filter((room) => !existsSync(join(ROOT, 'test/unit', room)));
    expect(untested.filter((room) => !page.includes(`/${basename(room)}\``))).toEqual([]);
  });

  test('of the core that a report passes exists, and stands in the same order in both drawings', () => {
    const chains = ['src/core/README.md', 'ARCHITECTURE.md'].map((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8');
      const [chain = ''] = /`sample` →[^.]*→\s+admission/.exec(text) ?? [];
      return [...chain.matchAll(/`([\w-]+)`/g)].map(([, room]) => room);
    });
    expect(chains[0]).toHaveLength(7);
    expect(chains[1]).toEqual(chains[0]);
    const folders = new Set(rooms.filter((room) => room.startsWith('src/core/')).map((room) => basename(room)));
    expect(chains[0]?.filter((room) => room === undefined || !folders.has(room))).toEqual([]);
  });
});

/** Imports of files below `folder` that lead to none of `allowed`. */
function beyond(folder: string, allowed: readonly string[]): string[] {
  return imports
    .filter(({ from }) => from.startsWith(`${folder}/`))
    .filter(({ to }) => !allowed.some((room) => to.startsWith(`${room}/`)))
    .filter(({ from, to }) => from !== LIST_OF_KINDS || !/^src\/topic\/\w+\/kind\.ts$/.test(to))
    .map(inWords);
}

function inWords({ from, to, kind }: Import): string {
  return `${from} imports ${to} (${kind})`;
}

/**
 * Names the room that a file belongs to, as READMEs do: `node/admission`, `core/limiter`, `topic`, `sim/run`. Folders
 * within a room may import each other as long as no cycle arises.
 */
function roomOf(file: string): string {
  const [tree = '', first = '', second = ''] = file.split('/');
  if (tree === 'sim') return second === '' ? 'sim' : `sim/${first}`;
  if (second === '') return 'src';
  return ONE_ROOM.includes(first) || second.includes('.') ? first : `${first}/${second}`;
}

/** What the README of a room says after "May import"; null where it says nothing: the doors, and the top of sim. */
function allowedBy(folder: string): string[] | null {
  const sentence = /\*\*May import\*\* ([\s\S]*?)\n\n/.exec(readmeOf(folder))?.[1];
  return sentence === undefined ? null : [...sentence.matchAll(/`([\w/-]+)`/g)].map(([, room]) => room);
}

function readmeOf(folder: string): string {
  const path = join(ROOT, folder, 'README.md');
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function filesIn(folder: string): number {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).filter((entry) => entry.isFile()).length;
}

function inner(folder: string): string[] {
  const entries = readdirSync(join(ROOT, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${folder}/${name}`);
}

test('a name that src exports means one thing', () => {
  const places = new Map<string, string[]>();
  for (const file of sourceFiles(ROOT, 'src').filter((name) => name.endsWith('.ts'))) {
    const code = codeOf(readFileSync(join(ROOT, file), 'utf8'));
    const exported = code.matchAll(
      /^export (?:async |abstract |declare )*(?:class|interface|type|function\*?|const|enum) (\w+)/gm,
    );
    // An overloaded function, or a type and its values, has its name several times in one file.
    for (const name of new Set(Array.from(exported, ([, found]) => found))) {
      places.set(name, [...(places.get(name) ?? []), file]);
    }
  }
  expect(places.size).toBeGreaterThan(2000);
  const twice = [...places].filter(([name, files]) => files.length > 1 && !NAMED_BY_DOORS.includes(name));
  expect(twice).toEqual([]);
});
