import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { describeConfig } from '../../../src/config/describe/describe-config.js';
import { examineConfig, resolveConfig } from '../../../src/config/read/resolve-config.js';

const FIVE = { quota: { publish: { messagesPerSecond: '5/min' } } };

function mistakesOf(keys: unknown, more: object = {}): string[] {
  const raw = { cluster: 'c', topic: 'memory', keys, ...more };
  return examineConfig(raw, { source: 'x', env: {} }).mistakes.map(
    ({ path, problem, remedy }) => `${path} ${problem}. ${remedy}`,
  );
}

describe('keys', () => {
  test('templates inherit defaults, overrides inherit templates, and what is printed reads back', () => {
    const overrides = { acme: { quota: { publish: { messagesPerSecond: '50/min' } } }, 'key:b': { burst: 7 } };
    const keys = { maxLive: '10k', 'key:{id}': { ...FIVE, burst: 3, overrides } };
    const config = resolveConfig(
      { cluster: 'c', node: 'n', topic: 'memory', defaults: { debtMs: 7000 }, keys },
      { source: 'x', env: { QUOTAMESH_KEYS_MAX_LIVE: '20k' } },
    );
    const [template] = config.keys.templates;
    expect(config.keys).toMatchObject({ maxLive: 20_000 });
    expect(template?.group).toMatchObject({ name: 'key:{id}', debtMs: 7000, burst: { messages: 3 } });
    expect(template?.overrides).toMatchObject([
      { name: 'key:acme', debtMs: 7000, quota: { publish: [50 / 60, Infinity] }, burst: { messages: 3 } },
      { name: 'key:b', quota: { publish: [5 / 60, Infinity] }, burst: { messages: 7 } },
    ]);
    const again = resolveConfig(parse(describeConfig(config)), { source: 'x', env: {} });
    expect(again.keys).toEqual(config.keys);
  });

  test('a configuration without groups and keys starts', () => {
    expect(mistakesOf({})).toEqual([]);
    expect(mistakesOf(undefined, { groups: {} })).toEqual([]);
  });

  test.each<[string, unknown, string[]]>([
    [
      'no mapping',
      5,
      [
        'keys must be a mapping of patterns like "key:{id}" to settings of a group, got 5. Indent the patterns below it.',
      ],
    ],
    ['no pattern', { maxLife: FIVE }, ['keys.maxLife has no field like {id}. Did you mean "maxLive"?']],
    ['a bound', { maxLive: 0 }, [expect.stringContaining('keys.maxLive must be')]],
    ['a mistake of a group', { 'key:{id}': { qouta: {} } }, [expect.stringContaining('qouta is not a known key')]],
    [
      'one that several settings make',
      { 'key:{id}': { ...FIVE, burst: 5, limiter: 'window' } },
      [
        expect.stringMatching(
          /^keys\["key:\{id\}"\]\.burst\.messages needs a bucket of the cluster: limiter is window/,
        ),
      ],
    ],
    [
      'a mistake of an override, told once and there',
      { 'key:{id}': { ...FIVE, overrides: { acme: { quota: 5 } } } },
      [expect.stringMatching(/^keys\["key:\{id\}"\]\.overrides\.acme\.quota must be/)],
    ],
    [
      'an override of another key',
      { '{a}:{b}': { ...FIVE, overrides: { acme: {} } } },
      [expect.stringMatching(/^keys\["\{a\}:\{b\}"\]\.overrides\.acme is no key of/)],
    ],
    [
      'patterns that overlap',
      { '{a}:b': FIVE, 'a:{b}': FIVE },
      [
        'keys["a:{b}"] matches names that "{a}:b" matches, and neither is more specific. Join the two, or put more text into one of them.',
      ],
    ],
    ['one more specific than the other', { 'key:{id}': FIVE, 'key:a{id}': FIVE }, []],
  ])('%s', (_, keys, expected) => {
    expect(mistakesOf(keys)).toEqual(expected);
  });

  test('without a topic nobody tells what was taken of a key', () => {
    expect(mistakesOf({ 'key:{id}': FIVE }, { topic: { kind: 'none', nodeCount: 2 } })).toEqual([
      expect.stringContaining('keys needs a topic'),
    ]);
  });
});
