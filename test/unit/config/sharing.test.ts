import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeConfig } from '../../../src/config/describe/describe-config.js';
import { loadConfig } from '../../../src/config/files/load-config.js';
import { ConfigError } from '../../../src/config/setting/config-error.js';
import { STRATEGY_NAMES } from '../../../src/core/convergence/strategies.js';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-sharing-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

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
    ['burst.bytes', 'bytes: 1MiB', 'sharing: rates, '],
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

async function groupOf(group: string, defaults = '{}') {
  const [found] = (await loadConfig({ file: fileOf(group, defaults) })).groups;
  return found!;
}

describe('a group that does not say what it shares', () => {
  test.each([
    '{}',
    '{ sharing: auto }',
    '{ sharing: ~ }',
    '{ burst: 10 }',
    '{ strategy: proportional }',
    // The values of the defaults say nothing.
    '{ burstMs: 100ms, burstMinMessages: 20, allowanceRatio: 0.25, limiter: bucket, smoothingMs: 0 }',
  ])('shares tokens: %s', async (written) => {
    expect(await groupOf(written)).toMatchObject({ sharing: 'tokens', autoSharing: { because: null } });
  });

  test.each([
    ['limiter: window', 'limiter is window'],
    ['topics: even', 'topics is even'],
    ['smoothingMs: 500', 'smoothingMs is 500'],
    ['slewPerSecond: 0.2', 'slewPerSecond is 0.2'],
    ['burstMs: 2s', 'burstMs is 2000'],
    ['burstMinMessages: 1', 'burstMinMessages is 1'],
    ['allowanceRatio: 0', 'allowanceRatio is 0'],
  ])('shares rates with %s, and knows why', async (written, because) => {
    expect(await groupOf(`{ ${written} }`)).toMatchObject({ sharing: 'rates', autoSharing: { because } });
    expect(await groupOf('{}', `{ ${written} }`)).toMatchObject({ sharing: 'rates', autoSharing: { because } });
    expect(await groupOf(`{ sharing: rates, ${written} }`)).toMatchObject({ sharing: 'rates', autoSharing: null });
    expect(await mistakesOf(`{ burst: 10, ${written} }`)).toEqual([
      expect.stringContaining(`groups.orders.burst needs a bucket of the cluster: ${because}, so every node has`),
    ]);
  });

  test('is printed as it is written, with what that came to, and reads back', async () => {
    for (const [written, line] of [
      ['{}', 'sharing: auto # tokens'],
      ['{ limiter: window }', 'sharing: auto # rates: limiter is window'],
      ['{ sharing: tokens }', 'sharing: tokens'],
    ] as const) {
      const printed = describeConfig(await loadConfig({ file: fileOf(written, '{}') }));
      expect(printed.match(/sharing: .*/)?.[0]).toBe(line);
      const file = join(folder, 'printed.yaml');
      writeFileSync(file, printed);
      const [again] = (await loadConfig({ file })).groups;
      const { sharing, autoSharing } = await groupOf(written);
      expect(again).toMatchObject({ sharing, autoSharing });
    }
  });

  test('without a topic shares rates; tokens and a depth are mistakes there', async () => {
    const alone = async (group: string) => {
      const file = join(folder, 'alone.yaml');
      writeFileSync(file, `cluster: demo\ntopic: { kind: none, nodeCount: 3 }\ngroups:\n  orders: ${group}\n`);
      return (await loadConfig({ file })).groups[0];
    };
    const because = 'topic.kind is none';
    expect(await alone('{}')).toMatchObject({ sharing: 'rates', autoSharing: { because } });
    await expect(alone('{ sharing: tokens }')).rejects.toThrow('sharing must be rates with topic kind none');
    await expect(alone('{ burst: 10 }')).rejects.toThrow(`needs a bucket of the cluster: ${because}`);
  });
});

describe('a burst', () => {
  const depths = async (written: string) => {
    const { burst } = await groupOf(`{ sharing: tokens, ${written} }`);
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
    const { burst } = await groupOf(`{ sharing: tokens, ${quota}, burst: 2s }`);
    expect(burst.ofQuota).toEqual({
      publish: { messages: null, bytes: 2 ** 21 },
      dispatch: { messages: 14, bytes: null },
    });
  });

  test.each([
    ['messagesPerMinute: 5', 5],
    ['messagesPerSecond: 7/min', 7],
    ['messagesPerHour: 600', 600],
    ['messagesPerDay: 20', 20],
    ['messagesPerMinute: 0.5', 1],
    ['messagesPerMinute: 0', null],
    ['messagesPerSecond: 5', null],
  ])('without one, all of a quota of %s', async (quota, messages) => {
    expect((await depths(`quota: { publish: { ${quota} } }`)).messages).toBe(messages);
  });

  test('the short form says all of the depth, and leaves the policy', async () => {
    const tokens = '{ sharing: tokens }';
    expect(await mistakesOf('{ burst: 10 }', tokens)).toEqual([]);
    const short = await groupOf('{ burst: 2s }', '{ sharing: tokens, burst: { messages: 7, policy: divided } }');
    expect(short.burst).toMatchObject({ messages: null, quotaMs: 2000, policy: 'divided' });
    const single = await groupOf('{ burst: { policy: divided } }', '{ sharing: tokens, burst: 7 }');
    expect(single.burst).toMatchObject({ messages: 7, policy: 'divided' });
    const env = { QUOTAMESH_DEFAULTS_BURST_POLICY: 'divided' };
    const { groups } = await loadConfig({ file: fileOf('{}', '{ sharing: tokens, burst: 7 }'), env });
    expect(groups[0]?.burst).toMatchObject({ messages: 7, policy: 'divided' });
  });

  test.each([
    ['burst: 10', 'burst needs a bucket of the cluster'],
    ['burst: 2s', 'burst needs a bucket of the cluster'],
    ['burst: { quotaMs: 2s }', 'burst.quotaMs needs a bucket of the cluster'],
  ])('where rates are shared, %s is one mistake where it stands', async (written, told) => {
    const [found, ...others] = await mistakesOf(`{ sharing: rates, ${written} }`);
    expect(others).toEqual([]);
    expect(found).toMatch(/^node\.yaml:4:\d+: /);
    expect(found).toContain(`groups.orders.${told}`);
    expect(found).toContain('Set sharing: tokens, or use burstMs');
  });

  test.each([
    ['10/s', '0', 'burst must be a whole number between 1 and 1T'],
    ['10/s', '-3', 'burst must be a whole number'],
    ['10/s', '1.5', 'burst must be a whole number'],
    ['10/s', 'lots', 'burst must be a whole number'],
    ['10/s', '1MiB', 'burst must be a whole number'],
    ['10/s', '[10]', 'burst must be a whole number'],
    ['10/s', '-2s', 'burst must be a duration between 1ms and 1d'],
    ['10/s', '0s', 'burst must be a duration between 1ms and 1d'],
    ['10/s', '2d', 'burst must be a duration between 1ms and 1d'],
    ['10/s', '900k', 'burst is 900000 messages, which take more than a day to come in at 10'],
    ['10/s', '{ messages: 900k }', 'burst.messages is 900000 messages, which take more than a day'],
    ['5/d', '6', 'burst is 6 messages, which take more than a day to come in at 5/d'],
    ['5/min', '500ms', 'burst is 500ms of 5/min, which is less than one message'],
  ])('of %s, %s: one mistake at its place, with a remedy', async (rate, written, told) => {
    const quota = `sharing: tokens, quota: { publish: { messagesPerSecond: ${rate} } }`;
    const [found, ...others] = await mistakesOf(`{ ${quota}, burst: ${written} }`);
    expect(others).toEqual([]);
    expect(found).toMatch(/^node\.yaml:4:\d+: /);
    expect(found).toContain(`groups.orders.${told}`);
    expect(found).toMatch(/(Write burst: 10 \(messages\), burst: 2s|Lower it|Say it in messages: burst: 5\.)/);
  });

  test('a burst of a day of the quota is none too many', async () => {
    expect(await mistakesOf('{ sharing: tokens, quota: { publish: { messagesPerDay: 5 } }, burst: 5 }')).toEqual([]);
  });

  test('both directions have the depth, so the smaller quota says what a day is', async () => {
    const quota = 'sharing: tokens, quota: { publish: { messagesPerSecond: 1k }, dispatch: { messagesPerMinute: 5 } }';
    expect(await mistakesOf(`{ ${quota}, burst: 7200 }`)).toEqual([]);
    const [found, ...others] = await mistakesOf(`{ ${quota}, burst: 7201 }`);
    expect(others).toEqual([]);
    expect(found).toContain('groups.orders.burst is 7201 messages, which take more than a day to come in at 5/min');
    // A quota of 0 blocks, whatever the depth.
    const blocked =
      'sharing: tokens, quota: { publish: { messagesPerSecond: 1k }, dispatch: { messagesPerSecond: 0 } }';
    expect(await mistakesOf(`{ ${blocked}, burst: 7201 }`)).toEqual([]);
  });

  test('burstMs beside a quota of cost per minute: less than a unit of cost', async () => {
    const quota = 'quota: { publish: { costPerMinute: 5 } }';
    const [found, ...others] = await mistakesOf(`{ ${quota}, burstMs: 500ms }`);
    expect(others).toEqual([]);
    expect(found).toContain('groups.orders.burstMs is 500ms of 5/min, which is less than one unit of cost');
    expect(await mistakesOf(`{ ${quota}, burstMs: 12s }`)).toEqual([]);
  });

  test.each(['rates', 'tokens'])(
    'burstMs beside a quota per minute, sharing %s: less than a message',
    async (sharing) => {
      const quota = `sharing: ${sharing}, quota: { publish: { messagesPerMinute: 5 } }`;
      const [found, ...others] = await mistakesOf(`{ ${quota}, burstMs: 500ms }`);
      expect(others).toEqual([]);
      expect(found).toContain('groups.orders.burstMs is 500ms of 5/min, which is less than one message');
      expect(found).toMatch(/(Remove burstMs|Say the depth in messages), or tell the quota per second|burst: 5/);
      expect(await mistakesOf(`{ ${quota}, burstMs: 12s }`)).toEqual([]);
      // What is written is meant, though it is the default; what nobody wrote is not.
      expect(await mistakesOf(`{ ${quota}, burstMs: 100ms }`)).toEqual([
        expect.stringContaining('groups.orders.burstMs is 100ms of 5/min, which is less than one message'),
      ]);
      expect(await mistakesOf(`{ ${quota}, burstMs: ~ }`)).toEqual([]);
      expect(await mistakesOf(`{ ${quota} }`, '{ burstMs: 500ms }')).toEqual([]);
      expect(await mistakesOf('{ quota: { publish: { messagesPerSecond: 0.1 } }, burstMs: 500ms }')).toEqual([]);
    },
  );
});
