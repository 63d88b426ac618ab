import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { configStamp } from '../../../src/config/files/config-files.js';
import { loadConfig } from '../../../src/config/files/load-config.js';
import { ConfigError } from '../../../src/config/setting/config-error.js';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
}

async function mistakesOf(files: Readonly<Record<string, string>>): Promise<string[]> {
  write(files);
  const error = await loadConfig({ file: folder, env: {} }).then(
    () => null,
    (failure: unknown) => failure,
  );
  expect(error).toBeInstanceOf(ConfigError);
  const { mistakes } = error as ConfigError;
  return mistakes.map(({ file, line, path, problem }) => `${file.slice(folder.length + 1)}:${line} ${path} ${problem}`);
}

describe('a folder of files', () => {
  test('is one configuration; what begins with a dot or is no YAML is left out', async () => {
    write({
      'node.yaml': 'cluster: demo\ndefaults: { debtMs: 200 }\n',
      'a.yml': 'groups:\n  a: { quota: { publish: { messagesPerSecond: 5k } } }\n',
      'b.yaml': 'groups:\n  b: {}\n',
      'empty.yaml': '',
      '.hidden.yaml': 'nonsense: [',
      'notes.txt': 'nonsense: [',
    });
    const config = await loadConfig({ file: folder, env: {} });
    expect(config.groups.map(({ name, debtMs }) => [name, debtMs])).toEqual([
      ['a', 200],
      ['b', 200],
    ]);
    expect(config.topic).toMatchObject({ path: join(folder, 'state') });
  });

  test.each([
    {
      what: 'a group in two files',
      files: { 'a.yaml': 'cluster: c\ngroups:\n  x: {}\n', 'b.yaml': 'groups:\n  y: {}\n  x: {}\n' },
      mistakes: [`b.yaml:3 groups.x is written in two files, first in FOLDER/a.yaml:3`],
    },
    {
      what: 'a key of the top level in two files',
      files: { 'a.yaml': 'cluster: c\ngroups: { x: {} }\n', 'b.yaml': '\ncluster: c\n' },
      mistakes: [`b.yaml:2 cluster is written in two files, first in FOLDER/a.yaml:1`],
    },
    {
      what: 'mistakes of values, each in its own file and line',
      files: {
        'a.yaml': 'cluster: c\ngroups:\n  x: { strategy: max-min }\n',
        'b.yaml': 'groups:\n  y:\n    debtMs: -1\n',
        'c.yaml': 'groups:\n\n  z: { debtMs: fast }\n',
      },
      mistakes: [/^b.yaml:3 groups.y.debtMs must be/, /^c.yaml:3 groups.z.debtMs must be/],
    },
    {
      what: 'a text that is no YAML',
      files: { 'a.yaml': 'cluster: c\ngroups: { x: {} }\n', 'b.yaml': 'groups:\n  y: [\n' },
      mistakes: [/^b.yaml:\d {2}is not readable as YAML/],
    },
    {
      what: 'a list',
      files: { 'a.yaml': 'cluster: c\ngroups: { x: {} }\n', 'b.yaml': '- x\n' },
      mistakes: [/^b.yaml:1 {2}must be a mapping/],
    },
  ])('$what', async ({ files, mistakes }) => {
    const found = await mistakesOf(files);
    expect(found.length).toBeGreaterThanOrEqual(mistakes.length);
    for (const [at, expected] of mistakes.entries()) {
      if (typeof expected === 'string') expect(found[at]).toBe(expected.replace('FOLDER', folder));
      else expect(found[at]).toMatch(expected);
    }
  });
});

describe('the stamp of a configuration', () => {
  test('changes with what is written, put, taken away, and with the link that Kubernetes swaps; else it stays', () => {
    for (const version of ['..one', '..two']) {
      mkdirSync(join(folder, version));
      writeFileSync(join(folder, version, 'groups.yaml'), 'groups: {}\n');
    }
    symlinkSync('..one', join(folder, '..data'));
    symlinkSync('..data/groups.yaml', join(folder, 'groups.yaml'));
    const stamps = [configStamp(folder)];
    const changes = [
      () => write({ 'a.yaml': 'cluster: c\n' }),
      () => write({ 'a.yaml': 'cluster: d\n' }),
      () => {
        symlinkSync('..two', join(folder, '..data_tmp'));
        renameSync(join(folder, '..data_tmp'), join(folder, '..data'));
      },
      () => rmSync(join(folder, 'a.yaml')),
      () => rmSync(folder, { recursive: true }),
    ];
    for (const change of changes) {
      expect(configStamp(folder)).toBe(stamps.at(-1));
      change();
      stamps.push(configStamp(folder));
    }
    expect(new Set(stamps).size).toBe(stamps.length);
  });
});
