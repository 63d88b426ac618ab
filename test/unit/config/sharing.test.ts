import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/files/load-config.js';
import { ConfigError } from '../../../src/config/setting/config-error.js';
import { STRATEGY_NAMES } from '../../../src/core/convergence/strategies.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-sharing-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The mistakes of a node.yaml with one group, one a line, without the folder. */
async function mistakesOf(group: string, defaults = '{}'): Promise<string[]> {
  const file = join(folder, 'node.yaml');
  writeFileSync(file, `cluster: demo\ndefaults: ${defaults}\ngroups:\n  orders: ${group}\n`);
  try {
    await loadConfig({ file });
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).report
      .trim()
      .split('\n')
      .map((line) => line.replace(`${folder}/`, ''));
  }
}

describe('a group that shares tokens', () => {
  test.each([
    ['limiter', 'limiter: window', 'window'],
    ['topics', 'topics: even', 'even'],
    ['smoothingMs', 'smoothingMs: 500', '500'],
    ['slewPerSecond', 'slewPerSecond: 0.2', '0.2'],
  ])('cannot have %s: one mistake, at its place, with a remedy', async (key, written, value) => {
    const found = await mistakesOf(`{ sharing: tokens, ${written} }`);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^node\.yaml:4:\d+: /);
    expect(found[0]).toContain(`groups.orders.${key} `);
    expect(found[0]).toContain(`cannot be ${value} where sharing is tokens`);
    expect(found[0]).toContain(`Share rates in this group, or remove ${key}.`);
    const [, column] = /^node\.yaml:4:(\d+)/.exec(found[0] as string) as unknown as [string, string];
    const line = `  orders: { sharing: tokens, ${written} }`;
    expect(line.slice(Number(column) - 1)).toMatch(new RegExp(`^${value}\\b`));
    expect(await mistakesOf(`{ sharing: rates, ${written} }`)).toEqual([]);
  });

  test.each(STRATEGY_NAMES)('may divide by %s', async (strategy) => {
    expect(await mistakesOf(`{ sharing: tokens, strategy: ${strategy} }`)).toEqual([]);
  });

  test('says each of several', async () => {
    const found = await mistakesOf('{ sharing: tokens, limiter: window, smoothingMs: 500, slewPerSecond: 0.2 }');
    expect(found).toHaveLength(3);
  });

  test.each([
    'minShareRatio: 0.1',
    'maxShareRatio: 0.5',
    'quota: { publish: { messagesPerSecond: 1000 } }, ramp: { fromPerSecond: 100, overMs: 1m }',
    'quota: { publish: { costPerSecond: 10 } }',
    'quota: { dispatch: { costPerSecond: 20 } }',
  ])('may have %s', async (written) => {
    expect(await mistakesOf(`{ sharing: tokens, ${written} }`)).toEqual([]);
  });

  test('by default, too; and what stands there already may stand', async () => {
    const found = await mistakesOf('{ limiter: window }', '{ sharing: tokens }');
    expect(found).toHaveLength(1);
    expect(await mistakesOf('{}', '{ sharing: tokens, burst: { messages: 10, policy: divided } }')).toEqual([]);
    const same =
      'strategy: max-min, limiter: bucket, topics: shared, smoothingMs: 0, minShareRatio: 0, maxShareRatio: 1';
    expect(await mistakesOf(`{ sharing: tokens, ${same} }`)).toEqual([]);
  });
});

describe('a group that shares rates', () => {
  test.each([
    ['burst.messages', 'messages: 10', 'sharing: rates, '],
    ['burst.bytes', 'bytes: 1MiB', ''],
  ])('has no bucket of the cluster: %s is one mistake', async (key, written, sharing) => {
    const found = await mistakesOf(`{ ${sharing}burst: { ${written} } }`);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^node\.yaml:4:\d+: /);
    expect(found[0]).toContain(`groups.orders.${key} needs a bucket of the cluster`);
    expect(found[0]).toContain('Set sharing: tokens, or use burstMs');
  });

  test('a burst of nothing, or more than can be, is no burst', async () => {
    for (const messages of ['0', '-1', '1.5', '2e12', 'lots'])
      expect(await mistakesOf(`{ sharing: tokens, burst: { messages: ${messages} } }`), messages).toHaveLength(1);
    expect(await mistakesOf('{ sharing: tokens, burst: { policy: fast } }')).toHaveLength(1);
    expect(await mistakesOf('{ sharing: buckets }')).toHaveLength(1);
  });
});
