import 'reflect-metadata';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { serve } from '@hono/node-server';
import { Controller, type ExecutionContext, Get, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import Koa from 'koa';
import type { QuotaNode } from '../../../src/index.js';
import type { QuotaOptions } from '../../../src/services/admission.js';
import { quota as ofExpress } from '../../../src/services/express.js';
import { quota as ofFastify } from '../../../src/services/fastify.js';
import { quota as ofHono } from '../../../src/services/hono.js';
import { quota as ofKoa } from '../../../src/services/koa.js';
import { Quota, QuotaGuard } from '../../../src/services/nest.js';
import { type Served, servedBy } from './one-node.js';

/** What stories choose; how a request is read is each framework's own. */
export type Chosen = Pick<QuotaOptions<never>, 'waitMs' | 'headers' | 'refusal'>;

/** A server that answers `hello` behind a quota for `key:` and the header x-api-key; x-cost messages; /health is free. */
export type Serve = (node: QuotaNode, chosen: Chosen) => Promise<Served>;

/** The versions before have their names in package.json, and no types of their own. */
const require = createRequire(import.meta.url);

export const FRAMEWORKS: readonly (readonly [string, Serve])[] = [
  ['express 5', (node, chosen) => onExpress(express, node, chosen)],
  ['express 4', (node, chosen) => onExpress(require('express4'), node, chosen)],
  ['fastify 5', (node, chosen) => onFastify(fastify, node, chosen)],
  ['fastify 4', (node, chosen) => onFastify(require('fastify4').fastify, node, chosen)],
  ['koa 3', (node, chosen) => onKoa(Koa, node, chosen)],
  ['koa 2', (node, chosen) => onKoa(require('koa2'), node, chosen)],
  ['hono 4', (node, chosen) => onHono(Hono, node, chosen)],
  ['hono 3', (node, chosen) => onHono(require('hono3').Hono, node, chosen)],
  ['nest 12 on express', (node, chosen) => onNest(null, node, chosen)],
  ['nest 12 on fastify', (node, chosen) => onNest(new FastifyAdapter(), node, chosen)],
];

function onExpress(make: typeof express, node: QuotaNode, chosen: Chosen): Promise<Served> {
  const app = make();
  app.use(
    ofExpress(node, {
      ...chosen,
      group: (request) => `key:${request.get('x-api-key')}`,
      messages: (request) => costOf(request.get('x-cost')),
      skip: (request) => request.path === '/health',
    }),
  );
  app.use((_request: unknown, response: express.Response) => void response.send('hello'));
  return servedBy(createServer(app));
}

async function onFastify(make: typeof fastify, node: QuotaNode, chosen: Chosen): Promise<Served> {
  const app = make();
  const hook = ofFastify(node, {
    ...chosen,
    group: ({ headers }) => `key:${headers['x-api-key']}`,
    messages: ({ headers }) => costOf(headers['x-cost']),
    skip: ({ url }) => url === '/health',
  });
  app.addHook('onRequest', hook);
  for (const path of ['/', '/health']) app.get(path, async () => 'hello');
  await app.listen({ host: '127.0.0.1', port: 0 });
  return servedBy(app.server);
}

function onKoa(Make: typeof Koa, node: QuotaNode, chosen: Chosen): Promise<Served> {
  const app = new Make();
  app.silent = true;
  app.use(
    ofKoa(node, {
      ...chosen,
      group: (context) => `key:${context.get('x-api-key')}`,
      messages: (context) => costOf(context.get('x-cost')),
      skip: (context) => context.path === '/health',
    }),
  );
  app.use((context) => {
    context.body = 'hello';
  });
  return servedBy(createServer(app.callback()));
}

function onHono(Make: typeof Hono, node: QuotaNode, chosen: Chosen): Promise<Served> {
  const app = new Make();
  app.use(
    '*',
    ofHono(node, {
      ...chosen,
      group: (context) => `key:${context.req.header('x-api-key')}`,
      messages: (context) => costOf(context.req.header('x-cost')),
      skip: (context) => context.req.path === '/health',
    }),
  );
  app.get('*', () => new Response('hello'));
  // Hono 3 knows its own HTTPException by its class; beside Hono 4 in one folder, the middleware throws that of Hono 4.
  if (Make !== Hono)
    app.onError((error) => ('getResponse' in error ? responseOf(error) : new Response('', { status: 500 })));
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, () =>
      resolve(servedBy(server as never)),
    );
  });
}

function responseOf(error: object): Response {
  return (error as { getResponse(): Response }).getResponse();
}

async function onNest(adapter: FastifyAdapter | null, node: QuotaNode, chosen: Chosen): Promise<Served> {
  // Decorators are called as what they are, functions, because the compiler's are of another kind.
  class Hello {
    hello(): string {
      return 'hello';
    }

    health(): string {
      return 'hello';
    }
  }
  decorate(Hello, 'hello', [Get('/'), Quota({ messages: (context) => costOf(headersOf(context)['x-cost']) })]);
  decorate(Hello, 'health', [Get('/health'), Quota({ skip: () => true })]);
  Controller()(Hello);
  class App {}
  Module({ controllers: [Hello] })(App);
  const app =
    adapter === null
      ? await NestFactory.create(App, { logger: false })
      : await NestFactory.create(App, adapter, { logger: false });
  app.useGlobalGuards(
    new QuotaGuard(node, { ...chosen, group: (context) => `key:${headersOf(context)['x-api-key']}` }),
  );
  await app.listen(0, '127.0.0.1');
  return servedBy(app.getHttpServer());
}

function decorate(of: { readonly prototype: object }, name: string, decorators: readonly MethodDecorator[]): void {
  const descriptor = Object.getOwnPropertyDescriptor(of.prototype, name) as PropertyDescriptor;
  for (const one of decorators) one(of.prototype, name, descriptor);
}

function headersOf(context: ExecutionContext): Readonly<Record<string, string | undefined>> {
  return context.switchToHttp().getRequest().headers;
}

function costOf(header: string | string[] | undefined): number {
  return header === undefined || header === '' ? 1 : Number(header);
}
