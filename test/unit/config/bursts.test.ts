import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/files/load-config.js';
import { ConfigError } from '../../../src/config/setting/config-error.js';
import { gatesOf, hasClusterBucket } from '../../../src/core/base/local-gate.js';
import { testFolder } from './test-folder.js';

const folder = testFolder();

function fileOf(group: string, defaults: string): string {
  const file = join(folder, 'node.yaml');
  writeFileSync(file, `cluster: demo\ndefaults: ${defaults}\ngroups:\n  orders: ${group}\n`);
  return file;
}

/** The mistakes of a node.yaml with one group, one a line, without the folder. */
async function mistakesOf(group: string, defaults = '{}'): Promise<string[]> {
  try {
    await loadConfig({ file: fileOf(group, defaults) });
    return [];
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).report
      .trim()
      .split('\n')
      .map((line) => line.replace(`${folder}/`, ''));
  }
}

async function groupOf(group: string, defaults = '{}') {
  const [found] = (await loadConfig({ file: fileOf(group, defaults) })).groups;
  return found;
}

const GATES = [
  ['limiter', 'limiter: window', 'limiter is window'],
  ['topics', 'topics: even', 'topics is even'],
  ['smoothingMs', 'smoothingMs: 500', 'smoothingMs is 500'],
  ['slewPerSecond', 'slewPerSecond: 0.2', 'slewPerSecond is 0.2'],
] as const;

describe('a group of which each node limits its own share', () => {
  test.each(GATES)('has no bucket of the cluster: %s', async (gate, written) => {
    const group = await groupOf(`{ ${written} }`);
    expect([hasClusterBucket(group), gatesOf(group)]).toEqual([false, [gate]]);
    expect(hasClusterBucket(await groupOf('{}', `{ ${written} }`))).toBe(false);
  });

  test('without a topic each group is one', async () => {
    const alone = async (group: string) => {
      const file = join(folder, 'alone.yaml');
      writeFileSync(file, `cluster: demo\ntopic: { kind: none, nodeCount: 3 }\ngroups:\n  orders: ${group}\n`);
      return (await loadConfig({ file })).groups[0];
    };
    expect(gatesOf(await alone('{}'))).toEqual(['nodeCount']);
    await expect(alone('{ burst: 10 }')).rejects.toThrow('needs a bucket of the cluster: topic.kind is none');
  });
});

test.each([
  '{}',
  '{ burst: 10 }',
  '{ strategy: proportional }',
  '{ minShareRatio: 0.1, maxShareRatio: 0.5 }',
  '{ quota: { publish: { messagesPerSecond: 1000 } }, ramp: { fromPerSecond: 100, overMs: 1m } }',
  '{ quota: { publish: { costPerSecond: 10 } } }',
  '{ limiter: bucket, topics: shared, smoothingMs: 0, slewPerSecond: ~ }',
])('has a bucket of the cluster: %s', async (written) => {
  expect(hasClusterBucket(await groupOf(written))).toBe(true);
});

describe('a burst', () => {
  const depths = async (written: string) => {
    const { burst } = await groupOf(`{ ${written} }`);
    const { messages, bytes, ofQuota } = burst;
    const { publish = null } = ofQuota ?? {};
    return { messages: messages ?? publish?.messages ?? null, bytes: bytes ?? publish?.bytes ?? null };
  };

  test.each([
    ['burst: 10', 10, null],
    ['burst: 1k', 1000, null],
    ['burst: "10"', 10, null],
    ['burst: { messages: 10 }', 10, null],
    ['burst: { messages: 10, bytes: 1MiB }', 10, 2 ** 20],
    ['burst: 2s', 20, null],
    ['burst: 500ms', 5, null],
    ['burst: { quotaMs: 2s }', 20, null],
    ['burst: { quotaMs: 2s, policy: divided }', 20, null],
    ['burst: { quotaMs: 2s, messages: 7 }', 7, null],
    ['burst: null', null, null],
    ['burst: {}', null, null],
  ])('%s of 10/s', async (written, messages, bytes) => {
    expect(await depths(`quota: { publish: { messagesPerSecond: 10 } }, ${written}`)).toEqual({ messages, bytes });
  });

  test('in time of the quota is one of bytes as well, and of each direction its own', async () => {
    const quota = 'quota: { publish: { bytesPerSecond: 1MiB }, dispatch: { messagesPerSecond: 7 } }';
    const { burst } = await groupOf(`{ ${quota}, burst: 2s }`);
    expect(burst.ofQuota).toEqual({
      publish: { messages: null, bytes: 2 ** 21 },
      dispatch: { messages: 14, bytes: null },
    });
  });

  test.each([
    ['messagesPerSecond: 5/min', 5],
    ['messagesPerSecond: 7/min', 7],
    ['messagesPerSecond: 600/h', 600],
    ['messagesPerSecond: 20/d', 20],
    ['messagesPerSecond: 0.5/min', 1],
    ['messagesPerSecond: 0/min', null],
    ['messagesPerSecond: 5', null],
  ])('without one, all of a quota of %s', async (quota, messages) => {
    expect((await depths(`quota: { publish: { ${quota} } }`)).messages).toBe(messages);
  });

  test('the short form says all of the depth, and leaves the policy', async () => {
    expect(await mistakesOf('{ burst: 10 }')).toEqual([]);
    const short = await groupOf('{ burst: 2s }', '{ burst: { messages: 7, policy: divided } }');
    expect(short.burst).toMatchObject({ messages: null, quotaMs: 2000, policy: 'divided' });
    const single = await groupOf('{ burst: { policy: divided } }', '{ burst: 7 }');
    expect(single.burst).toMatchObject({ messages: 7, policy: 'divided' });
    const env = { QUOTAMESH_DEFAULTS_BURST_POLICY: 'divided' };
    const { groups } = await loadConfig({ file: fileOf('{}', '{ burst: 7 }'), env });
    expect(groups[0]?.burst).toMatchObject({ messages: 7, policy: 'divided' });
  });
});
