import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { VARIABLES } from '../../../src/config/read/environment.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { SECTIONS, yamlPath } from '../../../src/config/schema/all-settings.js';
import { ConfigError } from '../../../src/config/setting/config-error.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';
import { runs } from '../../property/seed.js';

const OPTIONS = {
  source: 'junk.yaml',
  hostName: 'host',
  readFile: () => {
    throw new Error('there is no such file');
  },
};

/** Either a configuration or a ConfigError with at least one complete mistake; anything else fails the test. */
function resolves(raw: unknown, env = {}): boolean {
  try {
    resolveConfig(raw, { ...OPTIONS, env });
    return true;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    expect(error.mistakes.length).toBeGreaterThan(0);
    expect(error.mistakes.filter(({ problem, allowed, remedy }) => !problem || !allowed || !remedy)).toEqual([]);
    return false;
  }
}

const words = SECTIONS.flatMap((section) =>
  Object.keys(section.rows).flatMap((key) => yamlPath(section, key).split('.')),
);
const keys = fc.oneof(
  fc.constantFrom('groups', 'defaults', 'orders', '__proto__', 'constructor', ...words),
  fc.string(),
);
const leaves = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    '',
    '1s',
    '10k',
    '1MiB',
    '25%',
    'embedded',
    'kafka',
    true,
    Number.NaN,
    -0,
    1e308,
    0,
    7,
  ),
  fc.double(),
  fc.string(),
  fc.boolean(),
);
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    leaves,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(keys, tie('tree'), { maxKeys: 5 }),
  ),
}));
const root = fc.record(
  Object.fromEntries(
    ['cluster', 'topic', 'timing', 'http', 'defaults', 'groups', 'metrics', 'log'].map((key) => [key, tree]),
  ),
  { requiredKeys: [] },
);

describe('junk', () => {
  test('as a text never ends in anything but a configuration or a ConfigError', () => {
    const indicators = fc.constantFrom(
      ...'[]{},:-?&*!|>\'"%@`#~ \n\t',
      'a',
      'cluster: x\n',
      '&a ',
      '*a',
      '<<: *a',
      '- ',
      '? ',
    );
    const text = fc.oneof(
      fc.string(),
      fc.array(indicators, { maxLength: 60 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (yaml) => {
        const parsed = parseYaml(yaml);
        for (const { location } of parsed.mistakes) expect(location.line).toBeGreaterThan(0);
        if (parsed.readable) resolves(parsed.raw);
        else expect(parsed.mistakes.length).toBeGreaterThan(0);
      }),
      runs(1500),
    );
  });

  test('in known keys, too; and each mistake has a line', () => {
    fc.assert(
      fc.property(root, (raw) => {
        const { raw: reread, locate, readable } = parseYaml(stringify(raw, { aliasDuplicateObjects: false }));
        if (!readable) return;
        try {
          resolveConfig(reread, { ...OPTIONS, locate });
        } catch (error) {
          if (!(error instanceof ConfigError)) throw error;
          expect(error.mistakes.filter(({ line, column }) => !(line! > 0 && column! > 0))).toEqual([]);
        }
      }),
      runs(400),
    );
  });

  test('as an object of any kind, too', () => {
    fc.assert(
      fc.property(fc.oneof(root, tree, fc.anything()), (raw) => void resolves(raw)),
      runs(1000),
    );
  });

  test('in the environment, too', () => {
    const variables = fc.oneof(
      fc.constantFrom(...VARIABLES.keys()),
      fc.string().map((name) => `QUOTAMESH_${name}`),
    );
    const raw = { cluster: 'demo', groups: { orders: {} } };
    const environment = fc.dictionary(
      variables,
      fc.oneof(fc.string(), fc.constantFrom('1s', '5', 'kafka', 'true', 'a:1')),
    );
    fc.assert(
      fc.property(environment, (env) => void resolves(raw, env)),
      runs(500),
    );
  });
});
