import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { type Import, importsIn } from '../../import-graph.js';

/**
 * What a command loads before it does anything: the settings' schemas alone take as long as Node.js does to start
 * (docs/decisions/0045). Measured times would hang on the machine; files do not.
 */
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const imports = importsIn(ROOT, ['src', 'sim']).filter(({ kind }) => kind === 'value');

test('--version and --help load no command, and none of what commands work with', () => {
  const rooms = roomsOf(loadedBy('src/cli.ts', importsIn(ROOT, ['src']).filter(isStaticOf('src/cli.ts'))));
  expect(rooms).toContain('src/tools/cli/look');
  const light = /^(sim\/commands|src\/(config\/setting|base\/(access|errors|package)|tools\/(cli|demo|terminal)))/;
  expect(rooms.filter((room) => !light.test(room))).toEqual(['src']);
});

test.each(['status-table', 'show-top', 'explanation-text', 'print-group-names'])(
  '%s loads no schema and nothing of a node',
  (file) => {
    const rooms = roomsOf(loadedBy(`src/tools/cli/look/${file}.ts`, imports));
    expect(rooms).toContain('src/tools/node-client');
    expect(rooms.filter((room) => /^src\/(config\/(schema|read|files|yaml)|core|node|topic|doors)/.test(room))).toEqual(
      [],
    );
  },
);

/** The one import of the program that cli.ts waits for counts as any other. */
function isStaticOf(file: string) {
  return ({ from, kind }: Import) => kind === 'value' || from === file;
}

function loadedBy(file: string, among: readonly Import[]): ReadonlySet<string> {
  const loaded = new Set([file]);
  for (const each of loaded) for (const { from, to } of among) if (from === each) loaded.add(to);
  return loaded;
}

function roomsOf(files: ReadonlySet<string>): readonly string[] {
  return [...new Set([...files].map((file) => dirname(file)))].sort();
}
