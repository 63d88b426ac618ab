import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { describeConfig } from '../../../src/config/describe/describe-config.js';
import { examineConfig, resolveConfig } from '../../../src/config/read/resolve-config.js';

const FIVE = { quota: { publish: { messagesPerSecond: '5/min' } } };

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
    for (const sections of [{ keys: {} }, { groups: {} }]) {
      expect(examineConfig({ cluster: 'c', ...sections }, { source: 'x' }).mistakes).toEqual([]);
    }
  });
});
