import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { settingSources } from '../../../src/config/describe/setting-sources.js';
import { loadConfig } from '../../../src/config/files/load-config.js';
import type { Environment } from '../../../src/config/read/environment.js';
import { OLD_VARIABLES, VARIABLES } from '../../../src/config/read/environment.js';
import { examineGroup } from '../../../src/config/read/group-definition.js';
import { examineConfig } from '../../../src/config/read/resolve-config.js';
import { ALIASES } from '../../../src/config/schema/aliases.js';
import { formatMistake } from '../../../src/config/setting/config-error.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';
import { tellOldNames } from '../../../src/node/tell-old-names.js';

const folder = mkdtempSync(join(tmpdir(), 'quotamesh-aliases-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HEAD = 'cluster: demo\ntopic: memory\ngroups:\n  orders: { dropped: counted }\n  mails: {}\n';

function examine(text: string, env: Environment = {}) {
  const { raw, locate } = parseYaml(HEAD + text);
  const { config, mistakes } = examineConfig(raw, { source: 'node.yaml', locate, env });
  return { config, messages: mistakes.map(formatMistake) };
}

describe('an old name', () => {
  test('of a key is read as the new one, and noted with its line', () => {
    const { config, messages } = examine('timing:\n  slowWindowMs: 6s\n  fastWindowMs: 60ms\n');
    expect(messages).toEqual([]);
    expect(config?.timing).toMatchObject({ fastSpanMs: 60, slowSpanMs: 6000 });
    expect(config?.oldNames).toEqual([
      { old: 'timing.fastWindowMs', now: 'timing.fastSpanMs', where: 'node.yaml:8' },
      { old: 'timing.slowWindowMs', now: 'timing.slowSpanMs', where: 'node.yaml:7' },
    ]);
  });

  test('of a section with names of people is read as the new one', () => {
    const { config, messages } = examine('attachments:\n  places: { acme: orders }\n');
    expect(messages).toEqual([]);
    expect(config?.attachments.scopes).toMatchObject({ acme: { group: 'orders' } });
    expect(config?.oldNames).toEqual([{ old: 'attachments.places', now: 'attachments.scopes', where: 'node.yaml:7' }]);
  });

  test('of a value is read as the new one, in defaults and in groups, and noted once', () => {
    const more = '  a: { dropped: handed-back }\n  b: { dropped: handed-back }\ndefaults: { dropped: counted }\n';
    const { config, messages } = examine(more);
    expect(messages).toEqual([]);
    expect(config?.groups.map(({ dropped }) => dropped)).toEqual(['counted', 'counted', 'refunded', 'refunded']);
    expect(config?.oldNames).toEqual([{ old: 'dropped: handed-back', now: 'dropped: refunded', where: 'node.yaml:6' }]);
    const inherited = examine('defaults: { dropped: handed-back }\n').config;
    expect(inherited?.groups.map(({ dropped }) => dropped)).toEqual(['counted', 'refunded']);
  });

  test('beside the new one is a mistake that names both', () => {
    expect(examine('timing: { fastWindowMs: 60, fastSpanMs: 60 }\n').messages).toEqual([
      'node.yaml:6:11: timing.fastWindowMs is the old name of timing.fastSpanMs, which is given too. ' +
        'Remove timing.fastWindowMs.',
    ]);
    expect(examine('attachments: { scopes: {}, places: {} }\n').messages).toEqual([
      'node.yaml:6:28: attachments.places is the old name of attachments.scopes, which is given too. ' +
        'Remove attachments.places.',
    ]);
  });

  test('stands in the messages of whoever wrote it, at its line', () => {
    const { messages } = examine(
      'timing:\n  heartbeatMs: 1s\n  fastWindowMs: soon\nattachments:\n  places: { acme: ordrs }\n',
    );
    expect(messages).toEqual([
      expect.stringMatching(/^node\.yaml:8:17: timing\.fastWindowMs must be a duration .*, got "soon"/),
      expect.stringMatching(/^node\.yaml:10:19: attachments\.places\.acme must name a configured group, got "ordrs"/),
    ]);
    const [relation] = examine('timing: { fastWindowMs: 20 }\n').messages;
    expect(relation).toMatch(/^node\.yaml:6:25: timing\.fastWindowMs must be at least 2 × sampleIntervalMs = 40ms/);
  });

  test('of a variable is read as the new one, and noted', () => {
    const { config } = examine('', {
      QUOTAMESH_TIMING_FAST_WINDOW_MS: '70',
      QUOTAMESH_DEFAULTS_DROPPED: 'handed-back',
    });
    expect(config?.timing.fastSpanMs).toBe(70);
    expect(config?.groups.map(({ dropped }) => dropped)).toEqual(['counted', 'refunded']);
    expect(config?.oldNames).toEqual([
      {
        old: 'QUOTAMESH_TIMING_FAST_WINDOW_MS',
        now: 'QUOTAMESH_TIMING_FAST_SPAN_MS',
        where: 'environment',
      },
      { old: 'dropped: handed-back', now: 'dropped: refunded', where: 'QUOTAMESH_DEFAULTS_DROPPED' },
    ]);
  });

  test('of a variable beside the new one is a mistake that names both', () => {
    const env = { QUOTAMESH_TIMING_FAST_WINDOW_MS: '70', QUOTAMESH_TIMING_FAST_SPAN_MS: '70' };
    expect(examine('', env).messages).toEqual([
      'environment: QUOTAMESH_TIMING_FAST_WINDOW_MS is the old name of QUOTAMESH_TIMING_FAST_SPAN_MS, ' +
        'which is given too. Remove QUOTAMESH_TIMING_FAST_WINDOW_MS.',
    ]);
  });

  test.each([
    ['timing: { fastWindowMs: 60 }\n', { QUOTAMESH_TIMING_FAST_SPAN_MS: '70' }],
    ['timing: { fastSpanMs: 60 }\n', { QUOTAMESH_TIMING_FAST_WINDOW_MS: '70' }],
    ['timing: { fastWindowMs: 60 }\n', { QUOTAMESH_TIMING_FAST_WINDOW_MS: '70' }],
  ])('gives way to a variable as the new one does: %s', (text, env) => {
    const { config, messages } = examine(text, env);
    expect(messages).toEqual([]);
    expect(config?.timing.fastSpanMs).toBe(70);
  });

  test('is read in a group that is defined at run time', () => {
    const { config, mistakes } = examineGroup('a', { dropped: 'handed-back' }, '(request)');
    expect(mistakes).toEqual([]);
    expect(config?.dropped).toBe('refunded');
  });

  test('in one file of a folder and the new one in another is a mistake at the old one', async () => {
    writeFileSync(join(folder, 'a.yaml'), `${HEAD}timing: { fastWindowMs: 60 }\n`);
    writeFileSync(join(folder, 'b.yaml'), 'timing: { fastSpanMs: 60 }\n');
    await expect(loadConfig({ file: folder })).rejects.toThrow(
      `${join(folder, 'a.yaml')}:6:11: timing.fastWindowMs is the old name of timing.fastSpanMs`,
    );
    rmSync(join(folder, 'b.yaml'));
  });

  test('is the source of the value in the list of sources', async () => {
    const file = join(folder, 'a.yaml');
    writeFileSync(file, `${HEAD}timing: { fastWindowMs: 60 }\nattachments: { places: { acme: orders } }\n`);
    const env = { QUOTAMESH_TIMING_SLOW_WINDOW_MS: '7s' };
    const settings = await settingSources({ file, env });
    const found = Object.fromEntries(settings.map(({ key, value, source }) => [key, [value, source]]));
    expect(found).toMatchObject({
      'timing.fastSpanMs': [60, `${file}:6`],
      'timing.slowSpanMs': [7000, 'QUOTAMESH_TIMING_SLOW_WINDOW_MS'],
      'attachments.scopes.acme.group': ['orders', `${file}:7`],
    });
  });
});

describe('what a node says', () => {
  const { config } = examine('timing: { fastWindowMs: 60 }\n');

  test('one line with the old and the new name', () => {
    const lines: unknown[] = [];
    tellOldNames(config!, { log: (...line) => void lines.push(line) });
    expect(lines).toEqual([
      [
        'warn',
        'a setting has a new name; the old one keeps working',
        { old: 'timing.fastWindowMs', now: 'timing.fastSpanMs', where: 'node.yaml:6' },
      ],
    ]);
  });

  test('nothing when the file is read again, but of what came', () => {
    const lines: unknown[] = [];
    const telemetry = { log: (...line: unknown[]) => void lines.push(line) };
    tellOldNames(config!, telemetry, config);
    expect(lines).toEqual([]);
    tellOldNames(examine('timing: { fastWindowMs: 60, slowWindowMs: 6s }\n').config!, telemetry, config);
    expect(lines).toMatchObject([['warn', expect.any(String), { old: 'timing.slowWindowMs' }]]);
  });
});

describe('documents', () => {
  test('the page of settings knows the new names alone', () => {
    const page = readFileSync(new URL('../../../docs/reference/settings.md', import.meta.url), 'utf8');
    for (const { old, now } of ALIASES) {
      expect(page).toContain(now);
      expect(page).not.toMatch(new RegExp(`\\b${old}\\b`));
    }
    for (const [old, now] of OLD_VARIABLES) {
      expect(VARIABLES.has(now)).toBe(true);
      expect(page).not.toContain(old);
      expect(VARIABLES.has(old)).toBe(false);
    }
    expect([...OLD_VARIABLES.keys()]).toEqual(['QUOTAMESH_TIMING_FAST_WINDOW_MS', 'QUOTAMESH_TIMING_SLOW_WINDOW_MS']);
  });

  test('the schema of editors marks the old ones as deprecated', () => {
    const schema = readFileSync(new URL('../../../schema/node.schema.json', import.meta.url), 'utf8');
    const { properties } = JSON.parse(schema);
    const { fastWindowMs } = properties.timing.anyOf[0].properties;
    expect(fastWindowMs).toMatchObject({ deprecated: true, description: 'Now called timing.fastSpanMs.' });
    expect(properties.attachments.anyOf[0].properties.places).toMatchObject({ deprecated: true });
    const { dropped } = properties.defaults.anyOf[0].properties;
    expect(dropped.anyOf).toEqual([
      { enum: ['refunded', 'counted', null] },
      expect.objectContaining({ const: 'handed-back', deprecated: true, description: 'Now called refunded.' }),
    ]);
  });
});
