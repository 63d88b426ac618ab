import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { fastify } from 'fastify';
import Koa from 'koa';
import { afterEach, describe, expect, test } from 'vitest';
import { writtenHash } from '../../../src/base/access/token.js';
import { type CreateNodeOptions, createNode } from '../../../src/doors/library/create-node.js';
import type { QuotaNode } from '../../../src/node/api/quota-node.js';

const CONFIG = { cluster: 'http', node: 'a', topic: 'memory', groups: { orders: {} } };
const TOKEN = 'qm_viewer';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function start(options: Partial<CreateNodeOptions>): Promise<QuotaNode> {
  const node = await createNode({ config: CONFIG, env: {}, ...options });
  open.push(node);
  return node;
}

async function serve(handle: RequestListener): Promise<string> {
  const server: Server = createServer(handle).listen(0, '127.0.0.1');
  open.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const asBrowser = { headers: { accept: 'text/html' } };

describe('a node inside of a service', () => {
  test('listens where it is asked to, with page and API, until it closes', async () => {
    const node = await start({ http: '127.0.0.1:0' });
    const { url } = node.http!;
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(await fetch(url!, asBrowser).then((response) => response.text())).toContain('<!doctype html>');
    expect(await fetch(`${url}/v1/nodes`).then((response) => response.json())).toMatchObject({ nodeId: 'a' });
    expect(await fetch(`${url}/metrics`).then((response) => response.text())).toContain('quotamesh_ready 1');
    await node.close();
    await expect(fetch(url!)).rejects.toThrow('fetch failed');
  });

  test('has no HTTP where nobody asks for it, whatever the configuration says of http', async () => {
    const node = await start({ config: { ...CONFIG, http: { port: 1 } } });
    expect(node.http).toBe(null);
  });

  test('is refused by name where somebody listens already, and leaves nothing behind', async () => {
    const address = (await serve(() => undefined)).slice('http://'.length);
    await expect(start({ http: address })).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    await start({ http: '127.0.0.1:0' });
  });

  test('closes its listener where it does not become ready', async () => {
    const config = { ...CONFIG, topic: { kind: 'redis', addresses: ['127.0.0.1:1'] } };
    let url = '';
    const telemetry = {
      log: (_: string, message: string, facts: { url?: string } = {}) => {
        if (message === 'http listening') url = facts.url!;
      },
    };
    await expect(start({ config, telemetry, http: '127.0.0.1:0', readyTimeoutMs: 50 })).rejects.toThrow();
    await expect(fetch(url)).rejects.toThrow('fetch failed');
  });

  test('lets in whom the configuration lets in, and listens for other machines only then', async () => {
    const auth = { tokens: [{ name: 'pages', roles: ['viewer'], hash: writtenHash(TOKEN) }] };
    const { http } = await start({ config: { ...CONFIG, auth }, http: '127.0.0.1:0' });
    expect((await fetch(`${http!.url}/v1/nodes`)).status).toBe(401);
    const headers = { authorization: `Bearer ${TOKEN}` };
    expect((await fetch(`${http!.url}/v1/nodes`, { headers })).status).toBe(200);
    await expect(start({ http: '0.0.0.0:0' })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  test.each(['7070x', 'localhost', '', 'unix:'])('%o is no address', async (http) => {
    await expect(start({ http })).rejects.toMatchObject({ code: 'OPTIONS_INVALID', facts: { field: 'http' } });
  });
});

describe('a node that a service hands requests to', () => {
  const FRAMEWORKS: Record<string, (handler: RequestListener) => Promise<RequestListener>> = {
    'node:http': async (handler) => (request, response) => {
      request.url = request.url!.slice('/quotas'.length);
      handler(request, response);
    },
    express: async (handler) => express().use('/quotas', handler).use(express.json()),
    fastify: async (handler) => {
      const app = fastify();
      app.addHook('onRequest', (request, reply, done) => {
        if (!request.url.startsWith('/quotas/')) return done();
        reply.hijack();
        request.raw.url = request.url.slice('/quotas'.length);
        handler(request.raw, reply.raw);
      });
      await app.ready();
      return app.routing;
    },
    koa: async (handler) => {
      const app = new Koa();
      app.use((context, next) => {
        if (!context.path.startsWith('/quotas/')) return next();
        context.respond = false;
        context.req.url = context.url.slice('/quotas'.length);
        handler(context.req, context.res);
        return undefined;
      });
      return app.callback();
    },
  };

  test.each(Object.keys(FRAMEWORKS))('%s: page, API and bodies below a path', async (name) => {
    const node = await start({ config: { ...CONFIG, insecure: true }, http: 'handler' });
    expect(node.http!.url).toBe(null);
    const url = `${await serve(await FRAMEWORKS[name](node.http!.handler))}/quotas`;
    expect(await fetch(`${url}/`, asBrowser).then((response) => response.text())).toContain('<!doctype html>');
    expect(await fetch(`${url}/v1/live?count=5`).then((response) => response.json())).toMatchObject({
      groups: { rows: [{ group: 'orders' }] },
    });
    const acquire = { group: 'orders', messages: 1, atMost: true };
    const headers = { 'content-type': 'application/json' };
    const asked = await fetch(`${url}/v1/acquire`, { method: 'POST', headers, body: JSON.stringify(acquire) });
    expect(await asked.json()).toMatchObject({ granted: true, messages: 1 });
  });

  test('is refused where everybody who reaches the service would have every role', async () => {
    const refused = { code: 'OPTIONS_INVALID', message: expect.stringContaining('auth:') };
    await expect(start({ http: 'handler' })).rejects.toMatchObject(refused);
  });

  test('answers that it stops when it has closed', async () => {
    const node = await start({ config: { ...CONFIG, insecure: true }, http: 'handler' });
    const url = await serve(node.http!.handler);
    await node.close();
    expect((await fetch(`${url}/readyz`)).status).toBe(503);
  });
});
