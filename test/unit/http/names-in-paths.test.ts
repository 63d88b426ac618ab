import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { nameOfSegment, segmentOf } from '../../../src/config/setting/path-segment.js';
import { GROUP_LENGTH_MAX } from '../../../src/doors/http/route/fields.js';
import { nodeAddress } from '../../../src/tools/node-client/node-address.js';
import { get } from '../../../src/tools/node-client/node-requests.js';
import { type HttpScene, readyScene } from './http-scene.js';

const page = new URL('../../../src/doors/page/live/addresses.mjs', import.meta.url).href;
const { pathOf, pathOfKey } = (await import(page)) as Record<'pathOf' | 'pathOfKey', (name: string) => string>;

const NAMES = ['.', '..', '%2e', '%2E.', '.%252e', '%25', '...', 'a/..', '..\\', 'é', 'public/default', ''];

let scene: HttpScene;
let url: string;
beforeAll(async () => {
  scene = await readyScene({ groups: {}, keys: { '{id}': { quota: { publish: { messagesPerSecond: '60/min' } } } } });
  await scene.app.listen({ port: 0, host: '127.0.0.1' });
  url = `http://127.0.0.1:${(scene.app.server.address() as AddressInfo).port}`;
});
afterAll(() => scene.close());

test('a name comes back from its segment of a path, whatever a client does to the path', () => {
  const segments = NAMES.map(segmentOf);
  expect(segments.map((segment) => nameOfSegment(decodeURIComponent(segment)))).toEqual(NAMES);
  expect(new Set(segments).size).toBe(NAMES.length);
  expect(segments.slice(0, 3)).toEqual(['%252E', '%252E%252E', '%25252e']);
});

test.each(['.', '..', '%2e', '..%2F'])('a key named %s is found by fetch, the commands and the page', async (key) => {
  const paths = [`/v1/keys/${segmentOf(key)}`, pathOfKey(key)];
  for (const path of paths) {
    expect(await (await fetch(`${url}${path}`)).json()).toMatchObject({ key, template: '{id}' });
    expect(await get(nodeAddress({ url }), path, {})).toMatchObject({ key });
  }
  expect(pathOf(key)).toBe(`/v1/groups/${segmentOf(key)}`);
  const change = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"burst":5}' };
  expect((await fetch(`${url}${pathOfKey(key)}`, change)).status).toBeLessThan(300);
  expect(await (await fetch(`${url}${pathOfKey(key)}/definition`)).json()).toMatchObject({
    name: key,
    definition: { burst: 5 },
  });
});

test.each([
  ['latin', 'a', GROUP_LENGTH_MAX],
  ['percent signs', '%', GROUP_LENGTH_MAX],
  // Node reads 16 KiB of headers, and a path has 6 bytes for each of these characters.
  ['umlauts', 'ä', 2500],
  ['emoji', '🦄', 2500],
])('a key of a long name is found by its path: %s', async (_, sign, length) => {
  const key = sign.repeat(length / sign.length);
  expect(await scene.acquire({ key, messages: 1 })).toMatchObject({ status: 200 });
  expect(await (await fetch(`${url}${pathOfKey(key)}`)).json()).toMatchObject({ key, template: '{id}' });
});

test.each(['keys', 'groups', 'key-templates'])(
  'a name of %s that is longer than a path may be is no defect',
  async (kind) => {
    const before = scene.log.length;
    const answer = await scene.get(`/v1/${kind}/${'x'.repeat(5001)}`);
    expect(answer).toMatchObject({ status: 400, body: { code: 'REQUEST_INVALID' } });
    expect(String(answer.body.detail).length).toBeLessThan(200);
    expect(scene.log.slice(before)).toEqual([]);
  },
);
