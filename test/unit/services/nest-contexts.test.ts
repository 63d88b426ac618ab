import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { Controller, type ExecutionContext, type HttpException, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import { WsException } from '@nestjs/websockets';
import { firstValueFrom } from 'rxjs';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { QuotaGuard } from '../../../src/doors/services/nest.js';
import type { QuotaNode } from '../../../src/index.js';
import { oneNode } from './one-node.js';

let node: QuotaNode;

/** What a caller has to know, whatever it calls by. */
const TOLD = {
  code: 'QUOTA_EXCEEDED',
  message: 'group key:bob: messages publish quota is used up for now',
  group: 'key:bob',
  retryAfterMs: expect.closeTo(86_200_000, -6),
};

beforeAll(async () => {
  node = await oneNode();
});

afterAll(() => node.close());

test('a microservice tells its caller why it is refused, and when to come back', async () => {
  class Orders {
    order(): string {
      return 'ordered';
    }
  }
  const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, 'order') as PropertyDescriptor;
  MessagePattern('order')(Orders.prototype, 'order', descriptor);
  Controller()(Orders);
  class App {}
  Module({ controllers: [Orders] })(App);
  const options = { host: '127.0.0.1', port: await freePort() };
  const app = await NestFactory.createMicroservice(App, { transport: Transport.TCP, options, logger: false });
  onTestFinished(() => app.close());
  app.useGlobalGuards(new QuotaGuard(node, { group: (context) => `key:${context.switchToRpc().getData()}` }));
  await app.listen();
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  onTestFinished(() => client.close());
  expect(await firstValueFrom(client.send('order', 'alice'))).toBe('ordered');
  await expect(firstValueFrom(client.send('order', 'bob'))).rejects.toMatchObject(TOLD);
});

test('a gateway of WebSockets throws what Nest tells its client', async () => {
  const refused = await refusalIn('ws');
  expect(refused).toBeInstanceOf(WsException);
  expect((refused as WsException).getError()).toMatchObject(TOLD);
});

test('a resolver of GraphQL throws an exception whose message is the reason', async () => {
  const refused = (await refusalIn('graphql')) as HttpException;
  expect([refused.message, refused.getStatus()]).toEqual([TOLD.message, 429]);
  expect(refused.getResponse()).toMatchObject(TOLD);
});

async function refusalIn(kind: string): Promise<unknown> {
  const context = { getType: () => kind, getHandler: () => refusalIn, getClass: () => Object };
  const guard = new QuotaGuard(node, { group: 'key:bob' });
  try {
    return await guard.canActivate(context as unknown as ExecutionContext);
  } catch (error) {
    return error;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
