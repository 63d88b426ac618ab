// One instance of the service, as its README would have it: node express-service.mjs '{"limiter":"quotamesh",…}'
import { once } from 'node:events';
import express from 'express';

const { id, port, limiter, topic, redisPort, plans } = JSON.parse(process.argv[2]);
const { middlewares, close } = await { quotamesh: ofQuotamesh, 'express-rate-limit': ofExpressRateLimit }[limiter]();
const app = express();
app.use(...middlewares);
app.get('/', (_request, response) => void response.send('hello\n'));
const server = app.listen(port, '127.0.0.1');
await once(server, 'listening');
process.send('ready');
process.on('disconnect', () => process.exit(0));
process.once('SIGTERM', async () => {
  server.close();
  server.closeIdleConnections();
  await close();
  process.exit(0);
});

async function ofQuotamesh() {
  const [{ createNode }, { quota }] = await Promise.all([import('quotamesh'), import('quotamesh/express')]);
  const keys = plans.map(({ name, unit, amount }) => {
    return [`${name}:{id}`, { quota: { publish: { messagesPerSecond: `${amount}/${unit}` } } }];
  });
  const node = await createNode({
    nodeId: id,
    config: { cluster: 'deploys', topic, keys: Object.fromEntries(keys) },
    env: {},
  });
  return {
    middlewares: [quota(node, { group: (request) => request.get('x-api-key') })],
    close: () => node.close(),
  };
}

async function ofExpressRateLimit() {
  const [{ rateLimit }, { RedisStore }, { Redis }] = await Promise.all([
    import('express-rate-limit'),
    import('rate-limit-redis'),
    import('ioredis'),
  ]);
  const client = new Redis(redisPort, '127.0.0.1');
  const middlewares = plans.map(({ name, amount, periodMs }) => {
    return rateLimit({
      windowMs: periodMs,
      limit: amount,
      standardHeaders: 'draft-8',
      legacyHeaders: false,
      skip: (request) => !request.get('x-api-key').startsWith(`${name}:`),
      keyGenerator: (request) => request.get('x-api-key'),
      store: new RedisStore({ prefix: name, sendCommand: (...args) => client.call(...args) }),
    });
  });
  return { middlewares, close: async () => client.disconnect() };
}
