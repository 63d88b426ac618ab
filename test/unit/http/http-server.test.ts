import dns from 'node:dns';
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it, type MockInstance, vi } from 'vitest';
import { closeHttp, listen } from '../../../src/doors/http/server/http-server.js';
import { type HttpScene, httpScene, readyScene } from './http-scene.js';
import { Client } from './raw-client.js';

describe('routes that are not there', () => {
  let scene: HttpScene;
  beforeAll(async () => {
    scene = await httpScene();
  });
  afterAll(() => scene.close());

  it('an unknown path is a 404 problem, whatever the body is', async () => {
    const headers = { 'content-type': 'text/plain' };
    const answer = await scene.ask('POST', '/v2/nope?x=1', 'x', { headers });
    expect(answer).toMatchObject({
      status: 404,
      headers: { 'cache-control': 'no-store' },
      body: { code: 'ROUTE_UNKNOWN', detail: 'no such route: POST /v2/nope' },
    });
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
  });

  it.each([
    ['GET', '/v1/acquire', 'POST'],
    ['POST', '/v1/groups', 'GET, HEAD, PUT'],
    ['DELETE', '/v1/groups', 'GET, HEAD, PUT'],
    ['PUT', '/metrics', 'GET, HEAD'],
    ['OPTIONS', '/livez', 'GET, HEAD'],
  ] as const)('%s %s is 405 and says what is allowed', async (method, url, allow) => {
    const answer = await scene.ask(method, url);
    expect(answer).toMatchObject({ status: 405, headers: { allow }, body: { code: 'METHOD_NOT_ALLOWED' } });
  });

  it('a body that is compressed is 415, before it is read, and says what is taken', async () => {
    for (const [url, encoding] of [
      ['/v1/acquire', 'gzip'],
      ['/v1/take', 'br'],
    ] as const) {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
      const answer = await scene.ask('POST', url, gzipSync('{"group":"orders"}'), { headers });
      expect(answer).toMatchObject({
        status: 415,
        headers: { 'accept-encoding': 'identity' },
        body: { code: 'BODY_ENCODED' },
      });
    }
    const headers = { 'content-type': 'application/json', 'content-encoding': 'identity' };
    const answer = await scene.ask('POST', '/v1/acquire', '{"group":"orders","messages":1}', { headers });
    // This node has no topic yet; the body was read.
    expect(answer.body.code).toBe('NOT_READY');
  });

  it('OPTIONS / answers health checkers as /readyz does', async () => {
    const [asked, readyz] = [await scene.ask('OPTIONS', '/'), await scene.get('/readyz')];
    expect(asked.headers.allow).toBe('GET, HEAD, OPTIONS');
    expect([asked.status, asked.body]).toEqual([readyz.status, readyz.body]);
  });

  it('a path that cannot be decoded is 400', async () => {
    const answer = await scene.ask('GET', '/v1/groups/%E0%A4%A');
    expect(answer).toMatchObject({ status: 400, body: { code: 'REQUEST_INVALID' } });
  });

  it('HEAD is GET without a body', async () => {
    const response = await scene.app.inject({ method: 'HEAD', url: '/livez' });
    expect({ status: response.statusCode, body: response.body }).toEqual({ status: 200, body: '' });
  });

  it('a defect of ours is a 500 problem and one log line, without the stack in the answer', async () => {
    const broken = await httpScene();
    Object.defineProperty(broken.access, 'status', {
      get: () => {
        throw new TypeError('boom');
      },
    });
    const { status, body } = await broken.get('/v1/nodes');
    expect({ status, code: body.code, detail: body.detail }).toEqual({
      status: 500,
      code: 'UNEXPECTED',
      detail: 'unexpected error: boom',
    });
    expect(broken.log.filter(({ message }) => message === 'request failed')).toHaveLength(1);
    await broken.app.close();
  });
});

describe('the listening server', () => {
  it('port 0 gives a free one; what is taken is ADDRESS_IN_USE', async () => {
    const first = await httpScene({ http: { port: 0 } });
    const url = new URL(await listen(first.app, first.node));
    expect(Number(url.port)).toBeGreaterThan(0);
    const second = await httpScene({ http: { port: Number(url.port) } });
    await expect(listen(second.app, second.node)).rejects.toMatchObject({
      code: 'ADDRESS_IN_USE',
      exitCode: 69,
      message: expect.stringContaining(`127.0.0.1:${url.port}`),
    });
    await second.close();
    await first.close();
  });

  it('what is no HTTP is answered with a problem, and the connection ends', async () => {
    const { port, scene } = await listening();
    const answer = await exchange(port, 'this is no HTTP\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\ncontent-type: application\/problem\+json\r\n/);
    expect(answer).toContain('"code":"REQUEST_INVALID"');
    const overflow = await exchange(port, `GET / HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`);
    expect(overflow).toMatch(/^HTTP\/1\.1 431 .*"remedy":"[^"]*small header fields/s);
    await scene.close();
  });

  it('closes idle keep-alive connections at once and answers what arrives meanwhile', async () => {
    const { port, scene } = await listening();
    const [idle, half] = [await Client.open(port), await Client.open(port)];
    idle.write('GET /livez HTTP/1.1\r\nhost: x\r\n\r\n');
    await idle.until(() => idle.text !== '');
    half.write(
      'POST /v1/acquire HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 30\r\n\r\n{"group":"free",',
    );
    await sleep(100);
    const closing = closeHttp(scene.app, 5000);
    await idle.closed;
    half.write('"messages":1 }');
    await half.closed;
    expect(half.text).toMatch(/^HTTP\/1\.1 200 OK/);
    await closing;
    await scene.close();
  });

  it('cuts a connection whose request never gets complete', async () => {
    const { port, scene } = await listening();
    const stuck = await Client.open(port);
    stuck.write(
      'POST /v1/acquire HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 30\r\n\r\n{',
    );
    await sleep(100);
    const beganMs = performance.now();
    await closeHttp(scene.app, 200);
    expect(performance.now() - beganMs).toBeLessThan(5000);
    await stuck.closed;
    expect(stuck.text).toBe('');
    await scene.close();
  });

  it('leaves no timer behind where closing fails', async () => {
    vi.useFakeTimers();
    try {
      const app = { server: createServer(), close: () => Promise.reject(new Error('not closed')) };
      await expect(closeHttp(app as unknown as FastifyInstance, 5000)).rejects.toThrow('not closed');
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is one server on `localhost`, too: certificates and stopping know no other', async () => {
    const both = [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ];
    const lookup = vi.spyOn(dns, 'lookup') as unknown as MockInstance<(...args: unknown[]) => void>;
    lookup.mockImplementation((...args) => {
      const answer = args.at(-1) as (error: null, ...found: unknown[]) => void;
      const isForAll = (args[1] as { readonly all?: boolean }).all === true;
      if (isForAll) answer(null, both);
      else answer(null, both[0].address, both[0].family);
    });
    const scene = await httpScene({ http: { host: 'localhost', port: 0 } });
    await listen(scene.app, scene.node);
    lookup.mockRestore();
    expect(scene.app.addresses()).toEqual([scene.app.server.address()]);
    await scene.close();
  });

  it('a host that is not ours is ADDRESS_IN_USE, too, and says why', async () => {
    const scene = await httpScene({ insecure: true, http: { host: '192.0.2.1', port: 0 } });
    await expect(listen(scene.app, scene.node)).rejects.toMatchObject({
      code: 'ADDRESS_IN_USE',
      message: expect.stringContaining('EADDRNOTAVAIL'),
    });
    await scene.close();
  });
});

async function listening(): Promise<{ port: number; scene: HttpScene }> {
  const scene = await readyScene({ http: { port: 0 } });
  return { port: Number(new URL(await listen(scene.app, scene.node)).port), scene };
}

async function exchange(port: number, text: string): Promise<string> {
  const client = await Client.open(port);
  client.write(text);
  await client.closed;
  return client.text;
}
