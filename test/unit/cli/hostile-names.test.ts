import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { beforeAll, expect, it } from 'vitest';
import { nodeInProcess } from './node-in-process.js';
import { runInProcess } from './run-in-process.js';

const LIMITS = '{ publish: { messagesPerSecond: 50 } }';
const CONFIG = `cluster: demo
node: nodeA
topic: { kind: memory }
http: { port: 0 }
groups: { orders: { quota: ${LIMITS} } }
keys: { "key:{id}": { quota: ${LIMITS} } }
`;
/** Ends a line, forges one, and clears a terminal. */
const STEERS = '\nFORGED \u001b[2J';

let url: string;
const ends: (() => unknown)[] = [];
beforeAll(async () => {
  const node = await nodeInProcess(CONFIG, (end) => ends.push(end));
  const server = createServer(async (request, response) => {
    const { method = 'GET', headers } = request;
    const path = request.url?.replaceAll(encodeURIComponent(STEERS), '');
    const body = method === 'GET' ? null : await text(request);
    const type = headers['content-type'];
    const answer = await fetch(`${node}${path}`, {
      method,
      body,
      headers: type === undefined ? {} : { 'content-type': type },
    });
    // As a node that checks no names, or is none.
    const steering = (await answer.text()).replace(
      /"(orders|nodeA|demo[\w-]*|key:b)(?=")/g,
      (name) => name + JSON.stringify(STEERS).slice(1, -1),
    );
    response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' }).end(steering);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const acquire = (group: string) =>
    fetch(`${node}/v1/acquire`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ group, messages: 1 }),
    });
  await acquire('orders');
  await acquire('key:b');
  return async () => {
    for (const end of ends.reverse()) await end();
  };
});

it.for([
  ['status'],
  ['status', '--all'],
  ['top', '--once'],
  ['top', '--count', '1'],
  ['nodes'],
  ['explain', 'orders'],
  ['explain', 'missing'],
  ['group', 'list'],
  ['group', 'get', 'orders'],
  ['group', 'set', 'orders', 'quota.publish.messagesPerSecond=2k', '--dry-run'],
  ['group', 'set', 'other', 'quota.publish.messagesPerSecond=2k'],
  ['key', 'show', 'key:b'],
  ['audit'],
])('%j: names neither forge lines nor steer the terminal', async (command) => {
  const { stdout, stderr } = await runInProcess([...command, '--url', url]);
  const told = stdout + stderr;
  expect(told).not.toBe('');
  expect(told.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  expect(told).not.toMatch(/^FORGED/m);
});
