import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { freePorts } from '../../../src/tools/processes/free-ports.js';
import { LinkProxy, OPEN } from '../../chaos/link-proxy.js';

/** What has not come by then has been stopped. */
const SILENCE_MS = 150;
/** The median is 105 ms. */
const HEARD_WITHIN_MS = 20_000;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

test('an open link passes both directions', async () => {
  const { near, heardByServer } = await scene();
  near.write('ask');
  expect(await next(near)).toBe('re: ask');
  expect(heardByServer()).toBe('ask');
});

test('reset ends connections, and makes none', async () => {
  const { near, proxy, dial } = await scene();
  const gone = closed(near);
  proxy.set({ kind: 'reset' });
  await gone;
  expect(proxy.met).toBe(1);
  await closed(dial());
  expect(proxy.met).toBe(2);
});

test('drop lets nothing through and tells nobody; what was sent arrives when it is open again', async () => {
  const { near, proxy, heardByServer } = await scene();
  proxy.set({ kind: 'drop' });
  near.write('ask');
  await sleep(SILENCE_MS);
  expect(heardByServer()).toBe('');
  expect(near.destroyed).toBe(false);
  proxy.set(OPEN);
  expect(await next(near)).toBe('re: ask');
});

test('half-open: what the node sends arrives, the answer does not', async () => {
  const { near, proxy, heardByServer } = await scene();
  proxy.set({ kind: 'half-open' });
  near.write('ask');
  await sleep(SILENCE_MS);
  expect(heardByServer()).toBe('ask');
  expect(near.bytesRead).toBe(0);
  proxy.set(OPEN);
  expect(await next(near)).toBe('re: ask');
});

test('delay: everything comes later, in order, also what follows when the delay is over', async () => {
  const { near, proxy } = await scene();
  proxy.set({ kind: 'delay', delayMs: 100 });
  const sentMs = performance.now();
  near.write('1');
  await sleep(20);
  proxy.set(OPEN);
  near.write('2');
  let heard = '';
  near.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
  });
  await expect.poll(() => heard, { timeout: HEARD_WITHIN_MS }).toMatch(/1.*2/);
  expect(performance.now() - sentMs).toBeGreaterThanOrEqual(95);
});

test('a connection that is made while packets drop works when the link is open again', async () => {
  const { proxy, dial } = await scene();
  proxy.set({ kind: 'drop' });
  const near = dial();
  near.write('ask');
  await sleep(SILENCE_MS);
  proxy.set(OPEN);
  expect(await next(near)).toBe('re: ask');
});

async function scene() {
  let heard = '';
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString();
      socket.write(`re: ${chunk.toString()}`);
    });
  });
  const target = await listen(server);
  const [port] = (await freePorts(1)) as [number];
  const proxy = await LinkProxy.listen(port, target);
  const dial = (): Socket => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    closing.push(() => socket.destroy());
    return socket;
  };
  const near = dial();
  await once(near, 'connect');
  closing.push(
    () => proxy.close(),
    () => server.close(),
  );
  return { near, proxy, dial, heardByServer: () => heard };
}

/** A reset is an error first, which `once` would throw. */
function closed(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()));
}

async function next(socket: Socket): Promise<string> {
  const [chunk] = (await once(socket, 'data')) as [Buffer];
  return chunk.toString();
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as { port: number }).port;
}
