import 'reflect-metadata';
import { createServer, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { serve } from '@hono/node-server';
import { Controller, type ExecutionContext, Get, Module, Redirect, StreamableFile } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import express from 'express';
import { fastify } from 'fastify';
import { Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import Koa from 'koa';
import type { QuotaOptions } from '../../../src/doors/services/admission.js';
import { quota as ofExpress } from '../../../src/doors/services/express.js';
import { quota as ofFastify } from '../../../src/doors/services/fastify.js';
import { quota as ofHono } from '../../../src/doors/services/hono.js';
import { quota as ofKoa } from '../../../src/doors/services/koa.js';
import { Quota, QuotaGuard } from '../../../src/doors/services/nest.js';
import type { QuotaNode } from '../../../src/index.js';
import { type Served, servedBy } from './one-node.js';

/** What stories choose; how a request is read is each framework's own. */
export interface Chosen extends Pick<QuotaOptions<never>, 'waitMs' | 'headers' | 'refusal'> {
  /** After 50 ms somebody else answers each request, or begins to. */
  readonly meanwhile?: 'answered' | 'begun';
  /** A request has passed the quota. */
  readonly onPassed?: () => void;
}

/**
 * A server that answers `hello` behind a quota for `key:` and the header x-api-key; x-cost messages; /health is free.
 * /stream answers in two parts, /elsewhere with a redirection, /boom with an error.
 */
export type Serve = (node: QuotaNode, chosen: Chosen) => Promise<Served>;

/** The versions before have their names in package.json, and no types of their own. */
const require = createRequire(import.meta.url);

export const FRAMEWORKS: readonly (readonly [string, Serve])[] = [
  ['express 5', (node, chosen) => onExpress(express, node, chosen)],
  ['express 4', (node, chosen) => onExpress(require('express4'), node, chosen)],
  ['functions of connect', onConnect],
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
  app.use((_request: unknown, response: express.Response, next: () => void) => {
    interrupt(response, chosen);
    next();
  });
  app.use(
    ofExpress(node, {
      ...optionsOf(chosen),
      group: (request) => `key:${request.get('x-api-key')}`,
      messages: (request) => costOf(request.get('x-cost')),
      skip: (request) => request.path === '/health',
    }),
  );
  app.use((_request: unknown, _response: unknown, next: () => void) => {
    chosen.onPassed?.();
    next();
  });
  app.get('/stream', (_request: unknown, response: express.Response) => void twoParts().pipe(response));
  app.get('/elsewhere', (_request: unknown, response: express.Response) => response.redirect(302, ELSEWHERE));
  app.get('/boom', boom);
  app.use((_request: unknown, response: express.Response) => void response.send('hello'));
  app.use((_error: unknown, _request: unknown, response: express.Response, next: (error: unknown) => void) => {
    // Express prints what its own handler answers.
    const { status = 500, message = '' } = _error as { status?: number; message?: string };
    if (response.headersSent) next(_error);
    else response.status(status).send(message);
  });
  return servedBy(createServer(app));
}

/** Polka, Restify, h3 and servers without a framework call the same functions, on Node's own request and response. */
function onConnect(node: QuotaNode, chosen: Chosen): Promise<Served> {
  const admit = ofExpress(node, {
    ...optionsOf(chosen),
    group: ({ headers }) => `key:${headers['x-api-key']}`,
    messages: ({ headers }) => costOf(headers['x-cost']),
    skip: ({ url }) => url === '/health',
  });
  const server = createServer((request, response) => {
    interrupt(response, chosen);
    admit(request as express.Request, response as express.Response, (error?: unknown) => {
      const { status = 500, message = '' } = (error ?? {}) as { status?: number; message?: string };
      if (response.headersSent) return;
      if (error !== undefined) return void response.writeHead(status, { 'content-type': 'text/plain' }).end(message);
      chosen.onPassed?.();
      if (request.url === '/stream') twoParts().pipe(response);
      else if (request.url === '/elsewhere') response.writeHead(302, { location: ELSEWHERE }).end();
      else response.writeHead(request.url === '/boom' ? 500 : 200).end('hello');
    });
  });
  return servedBy(server);
}

async function onFastify(make: typeof fastify, node: QuotaNode, chosen: Chosen): Promise<Served> {
  const app = make();
  const hook = ofFastify(node, {
    ...optionsOf(chosen),
    group: ({ headers }) => `key:${headers['x-api-key']}`,
    messages: ({ headers }) => costOf(headers['x-cost']),
    skip: ({ url }) => url === '/health',
  });
  app.addHook('onRequest', (_request, reply, done) => {
    interrupt(reply.raw, chosen);
    done();
  });
  app.addHook('onRequest', hook);
  app.addHook('preHandler', (_request, _reply, done) => {
    chosen.onPassed?.();
    done();
  });
  for (const path of ['/', '/health']) app.get(path, async () => 'hello');
  app.get('/stream', (_request, reply) => void reply.send(twoParts()));
  app.get('/elsewhere', (_request, reply) => void reply.code(302).header('location', ELSEWHERE).send());
  app.get('/boom', async () => boom());
  await app.listen({ host: '127.0.0.1', port: 0 });
  return servedBy(app.server);
}

function onKoa(Make: typeof Koa, node: QuotaNode, chosen: Chosen): Promise<Served> {
  const app = new Make();
  app.silent = true;
  app.use((context, next) => {
    interrupt(context.res, chosen);
    return next();
  });
  app.use(
    ofKoa(node, {
      ...optionsOf(chosen),
      group: (context) => `key:${context.get('x-api-key')}`,
      messages: (context) => costOf(context.get('x-cost')),
      skip: (context) => context.path === '/health',
    }),
  );
  app.use((context) => {
    chosen.onPassed?.();
    if (context.path === '/boom') boom();
    else if (context.path === '/elsewhere') context.redirect(ELSEWHERE);
    else context.body = context.path === '/stream' ? twoParts() : 'hello';
  });
  return servedBy(createServer(app.callback()));
}

function onHono(Make: typeof Hono, node: QuotaNode, chosen: Chosen): Promise<Served> {
  const app = new Make();
  if (chosen.meanwhile !== undefined) {
    const other = () => new Response(Readable.toWeb(twoParts()) as ReadableStream, { status: 504 });
    app.use('*', (_context, next) => Promise.race([next(), afterMs(20).then(other)]));
  }
  app.use(
    '*',
    ofHono(node, {
      ...optionsOf(chosen),
      group: (context) => `key:${context.req.header('x-api-key')}`,
      messages: (context) => costOf(context.req.header('x-cost')),
      skip: (context) => context.req.path === '/health',
    }),
  );
  app.use('*', (_context, next) => {
    chosen.onPassed?.();
    return next();
  });
  app.get('/stream', () => new Response(Readable.toWeb(twoParts()) as ReadableStream));
  // Its headers are immutable, as are those of fetch().
  app.get('/elsewhere', () => Response.redirect(ELSEWHERE, 302));
  app.get('/fetched', () => fetch('data:text/plain,hello'));
  app.get('/boom', () => {
    throw new HTTPException(500);
  });
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
      chosen.onPassed?.();
      return 'hello';
    }

    stream(): StreamableFile {
      return new StreamableFile(twoParts());
    }

    elsewhere(): void {}

    boom(): void {
      boom();
    }

    health(): string {
      return 'hello';
    }
  }
  decorate(Hello, 'hello', [Get('/'), Quota({ messages: (context) => costOf(headersOf(context)['x-cost']) })]);
  decorate(Hello, 'health', [Get('/health'), Quota({ skip: () => true })]);
  decorate(Hello, 'stream', [Get('/stream')]);
  decorate(Hello, 'elsewhere', [Get('/elsewhere'), Redirect(ELSEWHERE, 302)]);
  decorate(Hello, 'boom', [Get('/boom')]);
  Controller()(Hello);
  class App {}
  Module({ controllers: [Hello] })(App);
  const app =
    adapter === null
      ? await NestFactory.create(App, { logger: false })
      : await NestFactory.create(App, adapter, { logger: false });
  app.use((_request: unknown, response: ServerResponse, next: () => void) => {
    interrupt(response, chosen);
    next();
  });
  app.useGlobalGuards(
    new QuotaGuard(node, { ...optionsOf(chosen), group: (context) => `key:${headersOf(context)['x-api-key']}` }),
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

const ELSEWHERE = 'http://127.0.0.1/elsewhere';
const PARTS = ['one, ', 'two'];

function twoParts(): Readable {
  return Readable.from(PARTS.map((part) => Buffer.from(part)));
}

function boom(): never {
  throw new Error('boom');
}

function optionsOf({ meanwhile: _, onPassed: __, ...options }: Chosen) {
  return options;
}

function afterMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Somebody else answers: a middleware with a deadline, for example. */
async function interrupt(response: ServerResponse, { meanwhile }: Chosen): Promise<void> {
  if (meanwhile === undefined) return;
  await afterMs(20);
  response.writeHead(504);
  if (meanwhile === 'answered') {
    response.end(PARTS.join(''));
    return;
  }
  response.write(PARTS[0]);
  // The quota gives up meanwhile.
  await afterMs(600);
  response.end(PARTS[1]);
}

function costOf(header: string | string[] | undefined): number {
  return header === undefined || header === '' ? 1 : Number(header);
}
