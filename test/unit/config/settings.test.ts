import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ERROR_CATALOGUE } from '../../../src/base/errors/catalogue.js';
import { RELATIONS } from '../../../src/config/read/check-relations.js';
import { VARIABLES } from '../../../src/config/read/environment.js';
import {
  environmentName,
  POLLED_BACKENDS,
  SECTIONS,
  SETTINGS,
  yamlPath,
} from '../../../src/config/schema/all-settings.js';
import { FOREIGN_KEYS } from '../../../src/config/schema/read-section.js';
import { KINDS, type TopicKind } from '../../../src/config/schema/topic-kinds.js';
import type { Setting } from '../../../src/config/setting/setting.js';
import { defaultText } from '../../../src/config/setting/setting-text.js';
import { readValue } from '../../../src/config/setting/setting-value.js';
import { spelledRate, type WrittenRate } from '../../../src/config/setting/written-rate.js';

const ALL = SECTIONS.flatMap((section) =>
  Object.entries(section.rows).map(([key, setting]): [string, Setting, string | null] => [
    yamlPath(section, key),
    setting,
    environmentName(section, key),
  ]),
);

describe('the settings table', () => {
  test('has at most 140 definitions for any kind of topic, each with somebody who would miss it', () => {
    const all = [...SECTIONS, POLLED_BACKENDS];
    const ofKinds = (Object.keys(KINDS) as TopicKind[]).map((kind) => SETTINGS[kind]);
    const count = (sections: typeof all) => new Set(sections.flatMap(({ rows }) => Object.values<Setting>(rows))).size;
    expect(count(all.filter((section) => !ofKinds.includes(section)))).toBeLessThanOrEqual(132);
    for (const kind of ofKinds) expect(count([kind])).toBeLessThanOrEqual(16);
    const settings = all.flatMap(({ rows }) => Object.values<Setting>(rows));
    for (const { missedBy } of settings) expect(missedBy).toMatch(/^\w.{4,60}$/);
  });

  test.each(ALL.filter(([, setting]) => setting.default !== null))('%s: its default is allowed', (_, setting) => {
    const { isWritten, default: value } = setting;
    const fromFile = readValue(setting, isWritten === true ? spelledRate(value as WrittenRate) : value);
    expect(fromFile.problems).toEqual([]);
    expect(fromFile.value).toEqual(setting.default);
  });

  test.each(ALL)('%s says what it buys and costs, in sentences', (_, setting) => {
    expect(setting.buys).toMatch(/^\S.*[.)]$/);
    expect(setting.costs).toMatch(/^\S.*[.)]$/);
    expect(setting.default === null && setting.defaultText === undefined ? setting.kind : '').not.toBe('duration');
  });

  test('what a name calls a key, a password or a passphrase is hidden from messages, and nothing public is', () => {
    const isSecret = /(^|\.)(key|nextKey|previousKey|password|passphrase|clientSecret)$/i;
    const all = [...SECTIONS, POLLED_BACKENDS].flatMap((section) => Object.entries<Setting>(section.rows));
    const hidden = all.filter(([, setting]) => 'secret' in setting && setting.secret === true).map(([key]) => key);
    const named = all.filter(([key, { kind }]) => kind === 'text' && isSecret.test(key)).map(([key]) => key);
    expect(hidden.sort()).toEqual(named.sort());
    expect(named.length).toBeGreaterThan(5);
  });

  test('relations name settings that exist', () => {
    const paths = new Set(ALL.map(([path]) => path));
    for (const { left, right } of RELATIONS) {
      expect(paths).toContain(left);
      expect(paths).toContain(right);
    }
  });

  test('each variable stands for one path, and the names are as documented', () => {
    expect(VARIABLES.get('QUOTAMESH_NODE')).toBe('node');
    expect(VARIABLES.get('QUOTAMESH_HTTP_PORT')).toBe('http.port');
    expect(VARIABLES.get('QUOTAMESH_TIMING_HEARTBEAT_MS')).toBe('timing.heartbeatMs');
    expect(VARIABLES.get('QUOTAMESH_TOPIC_BROKERS')).toBe('topic.brokers');
    expect(VARIABLES.get('QUOTAMESH_TOPIC_SASL_PASSWORD_FILE')).toBe('topic.sasl.password.file');
    expect(VARIABLES.get('QUOTAMESH_DEFAULTS_QUOTA_PUBLISH_BYTES_PER_SECOND')).toBe(
      'defaults.quota.publish.bytesPerSecond',
    );
    const pathsOf = new Map<string, Set<string>>();
    for (const [path, , variable] of ALL) {
      if (variable !== null) pathsOf.set(variable, (pathsOf.get(variable) ?? new Set()).add(path));
    }
    for (const paths of pathsOf.values()) expect(paths.size).toBe(1);
  });
});

describe('docs/reference/settings.md', () => {
  const page = readFileSync(new URL('../../../docs/reference/settings.md', import.meta.url), 'utf8');
  const plainOf = (text: string) => text.replaceAll('&lt;', '<').replaceAll('\\|', '|');
  const plainPage = plainOf(page);

  test.each(ALL)('%s has a line with its default, gain and price', (path, setting) => {
    const shown = path.startsWith('defaults.') ? path.slice('defaults.'.length) : path;
    const lines = page.split('\n').filter((line) => namedIn(line).includes(shown));
    const plain = plainOf(lines.join('\n'));
    expect(plain).toContain(setting.required ? '(required)' : defaultText(setting));
    expect(plain).toContain(setting.buys);
    expect(plain).toContain(setting.missedBy);
    // The same as in the row above is not repeated.
    expect(plain.includes('| ″ |') ? plainPage : plain).toContain(setting.costs);
  });

  test('says what must hold between settings and maps the keys of PIP-82 and Pulsar', () => {
    for (const { left, because } of RELATIONS) expect(page).toMatch(new RegExp(`^\\| \`${left}\` .*${because}`, 'm'));
    for (const { key } of FOREIGN_KEYS) expect(page).toContain(`| \`${key}\` |`);
    for (const key of ['TopicName', 'ToTopic', 'IntervalInSecs'])
      expect(page).toContain(`\`resourceUsagePublish${key}\``);
  });
});

/** The keys of a line: `{publish,dispatch}.bytesPerSecond` are two. */
function namedIn(line: string): readonly string[] {
  const [, cell = ''] = /^\| (`[^|]*`) \|/.exec(line) ?? [];
  return Array.from(cell.matchAll(/`([^`]+)`/g), ([, pattern = '']) =>
    expanded(pattern.replaceAll('&lt;', '<')),
  ).flat();
}

function expanded(pattern: string): readonly string[] {
  const [, before = '', choices, after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(pattern) ?? [];
  if (choices === undefined) return [pattern];
  return choices.split(',').flatMap((choice) => expanded(`${before}${choice}${after}`));
}

describe('docs/reference/errors.md', () => {
  const page = readFileSync(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8');
  const documented = Array.from(page.matchAll(/^\| `([A-Z_]+)` \|/gm), ([, code]) => code);

  test('lists the codes of the catalogue, no more and no less', () => {
    expect(documented).toEqual(Object.keys(ERROR_CATALOGUE));
    for (const { remedy } of Object.values(ERROR_CATALOGUE)) expect(page).toContain(remedy);
  });
});
