import { expect, test } from 'vitest';
import type { ConfigOverrides, Environment } from '../../../src/config/read/environment.js';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { formatMistake, type Mistake } from '../../../src/config/setting/config-error.js';
import { mergeFiles } from '../../../src/config/yaml/merge-files.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';
import { expectGolden, linesOf } from '../../golden.js';

/**
 * Every message about a configuration, word for word, one mistaken configuration a line. A change of the way in which a
 * configuration is read must not change what people are told.
 */
const GOLDEN = new URL('./messages.golden.jsonl', import.meta.url);

/** The text of a configuration, and what stands beside it: the environment, the flags, and files that it names. */
interface Written {
  readonly yaml: string;
  readonly env?: Environment;
  readonly flags?: ConfigOverrides;
  readonly files?: Readonly<Record<string, { readonly text?: string; readonly error?: string }>>;
  readonly folder?: string;
}

test('messages about a configuration are those that were recorded', () => {
  const recorded = linesOf(GOLDEN);
  expect(recorded.length).toBeGreaterThan(200);
  const now = recorded.map((line) => {
    const { says: _, ...written } = JSON.parse(line) as Written & { readonly says: unknown };
    return JSON.stringify({ ...written, says: saysOf(written) });
  });
  expectGolden(GOLDEN, now);
});

function saysOf({ yaml, env, flags, files = {}, folder }: Written): readonly string[] {
  const { raw, locate, mistakes: ofText } = mergeFiles([{ file: 'node.yaml', parsed: parseYaml(yaml) }]);
  if (ofText.length > 0) return ofText.map(formatMistake);
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
  return mistakes.map(lineOf);
}

/** What is allowed stands in most messages already; a list of all variables there are says nothing about the message. */
function lineOf(mistake: Mistake): string {
  const { allowed, cause, problem, remedy } = mistake;
  const isTold = problem.includes(allowed) || remedy.includes(allowed) || allowed.length > 300;
  return formatMistake(mistake) + (isTold ? '' : ` <${allowed}>`) + (cause === undefined ? '' : ` [${cause}]`);
}
