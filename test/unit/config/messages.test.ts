import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { ConfigOverrides, Environment } from '../../../src/config/read/environment.js';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { formatMistake, type Mistake } from '../../../src/config/setting/config-error.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';

/**
 * Every message that the other tests of this folder provoke, word for word. A change of the way in which a
 * configuration is read must not change what people are told; where a message is meant to change,
 * `UPDATE_GOLDEN=1` rewrites the file and the difference is reviewed like code.
 */
const GOLDEN = new URL('./messages.golden.txt', import.meta.url);

/** What stands beside the text of a configuration: the environment, the flags, and files that it names. */
interface Beside {
  readonly env?: Environment;
  readonly flags?: ConfigOverrides;
  readonly files?: Readonly<Record<string, { readonly text?: string; readonly error?: string }>>;
  readonly folder?: string;
}

test('messages about a configuration are those that were recorded', () => {
  const cases = readFileSync(GOLDEN, 'utf8').split(/^=== \d+\n/m);
  expect(cases.shift()).toBe('');
  expect(cases.length).toBeGreaterThan(300);
  const now = cases.map((each) => {
    const [yaml = '', beside = ''] = each.split(/^>>> (?:beside|mistakes)\n/m);
    return `${yaml}>>> beside\n${beside}>>> mistakes\n${linesOf(yaml, JSON.parse(beside) as Beside)}`;
  });
  if (process.env.UPDATE_GOLDEN === '1')
    writeFileSync(GOLDEN, now.map((text, at) => `=== ${at + 1}\n${text}`).join(''));
  expect(now).toEqual(cases);
});

function linesOf(yaml: string, { env, flags, files = {}, folder }: Beside): string {
  const { raw, locate, mistakes: ofText } = parseYaml(yaml.slice(0, -1));
  const { mistakes } = examineConfig(raw, {
    source: 'node.yaml',
    locate,
    env,
    overrides: flags,
    folder,
    hostName: 'host',
    readFile: (path) => {
      const { text, error = 'ENOENT: no such file or directory' } = files[path] ?? {};
      if (text === undefined) throw new Error(error);
      return text;
    },
  });
  return [...ofText.map(({ problem, remedy }) => `(text) ${problem}. ${remedy}`), ...mistakes.map(lineOf)]
    .map((line) => `${line}\n`)
    .join('');
}

/** What is allowed stands in most messages already; a list of all variables there are says nothing about the message. */
function lineOf(mistake: Mistake): string {
  const { allowed, cause, problem, remedy } = mistake;
  const isTold = problem.includes(allowed) || remedy.includes(allowed) || allowed.length > 300;
  return formatMistake(mistake) + (isTold ? '' : ` <${allowed}>`) + (cause === undefined ? '' : ` [${cause}]`);
}
