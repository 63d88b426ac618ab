import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createNode, type QuotaNode } from '../../../src/index.js';
import { someOf } from '../../property/seed.js';
import { FRAMEWORKS } from './frameworks.js';

const GROUPS = {
  'key:reports': { concurrency: 2 },
  'key:metered': { concurrency: 2, quota: { publish: { messagesPerSecond: 1000 } } },
};

let node: QuotaNode;
const slots = (group = 'key:reports') => node.groupStatus(group).slots;

beforeAll(async () => {
  const keys = { 'key:customer-{id}': { concurrency: 1 } };
  const config = { cluster: 'services-slots', node: 'a', topic: 'memory', groups: GROUPS, keys };
  node = await createNode({ config, env: {} });
  for (const group of Object.keys(GROUPS)) {
    using slot = await node.enter(group, undefined, { waitMs: 30_000 });
    for (let tries = 0; !slot.granted && slots(group)?.state !== 'kept' && tries < 600; tries++) {
      await sleep(50);
    }
  }
}, 60_000);

afterAll(() => node.close());

describe.each(someOf(FRAMEWORKS))('%s', (_, serve) => {
  test('a request holds a slot until its response has ended, or its client has gone', async () => {
    const served = await serve(node, { waitMs: 20_000, headers: 'both' });
    onTestFinished(() => served.close());
    const ask = (path: string, key = 'reports', signal?: AbortSignal) => {
      return fetch(`${served.url}${path}`, {
        headers: { 'x-api-key': key },
        redirect: 'manual',
        ...(signal && { signal }),
      });
    };
    const gone = new AbortController();
    const streams = await Promise.all([ask('/stream', 'reports', gone.signal), ask('/stream')]);
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    expect(streams[1].headers.get('ratelimit-policy')).toBe('"key:reports-concurrency";q=2;qu="concurrent-requests"');
    expect(streams[1].headers.get('x-ratelimit-limit')).toBe('2');
    gone.abort();
    await expect.poll(() => slots()?.inUse, { timeout: 20_000 }).toBeLessThan(2);
    await streams[1].text();
    await expect.poll(() => slots()?.inUse, { timeout: 20_000 }).toBe(0);
    const answers = await Promise.all(Array.from({ length: 5 }, () => ask('/')));
    expect(await Promise.all(answers.map(async (each) => [each.status, await each.text()]))).toEqual(
      Array(5).fill([200, 'hello']),
    );
    for (const path of ['/boom', '/elsewhere']) await (await ask(path)).text().catch(() => '');
    await expect.poll(() => slots()?.inUse, { timeout: 20_000 }).toBe(0);
  });

  test('each key has slots of its own', async () => {
    const served = await serve(node, { waitMs: 20_000, headers: 'draft' });
    onTestFinished(() => served.close());
    const gone = new AbortController();
    const ask = (key: string, path = '') => {
      return fetch(`${served.url}${path}`, { headers: { 'x-api-key': key }, signal: gone.signal });
    };
    const stream = await ask('customer-1', '/stream');
    expect(stream.headers.get('ratelimit-policy')).toBe('"key:customer-1-concurrency";q=1;qu="concurrent-requests"');
    expect(await (await ask('customer-2')).text()).toBe('hello');
    const waiting = ask('customer-1');
    await stream.text();
    expect(await (await waiting).text()).toBe('hello');
    gone.abort();
  });

  test('a full group is refused, and tells slots before the quota', async () => {
    const served = await serve(node, { waitMs: 0, headers: 'draft' });
    onTestFinished(() => served.close());
    const ask = () => fetch(served.url, { headers: { 'x-api-key': 'metered' } });
    const held = await Promise.all([1, 2].map(() => node.enter('key:metered', undefined, { waitMs: 20_000 })));
    const refused = await ask();
    const body = (await refused.json()) as { code: string };
    expect([refused.status, body.code]).toEqual([429, 'CONCURRENCY_REACHED']);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toBe('"key:metered-concurrency";r=0;t=1');
    for (const slot of held) if (slot.granted) slot.release();
    // A slot that was given back returns by the log.
    let granted = await ask();
    for (let tries = 0; granted.status !== 200 && tries < 400; tries++) {
      await granted.text();
      await sleep(50);
      granted = await ask();
    }
    expect(await granted.text()).toBe('hello');
    expect(granted.headers.get('ratelimit-policy')).toBe(
      '"key:metered-concurrency";q=2;qu="concurrent-requests", "key:metered-publish-messages";q=1000;w=1',
    );
    await expect.poll(() => slots('key:metered')?.inUse, { timeout: 20_000 }).toBe(0);
  });
});
