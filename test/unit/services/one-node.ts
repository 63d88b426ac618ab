import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createNode, type QuotaNode } from '../../../src/index.js';

/**
 * A node on a topic in memory. The bucket of bob, with one a day, is empty when it starts, so he is refused for as long
 * as a test takes; alice has 1,000/s.
 */
export async function oneNode(): Promise<QuotaNode> {
  const groups = {
    'key:alice': { quota: { publish: { messagesPerSecond: 1000 } } },
    'key:bob': { quota: { publish: { messagesPerSecond: '1/d' } }, burst: { start: 'empty' } },
    'key:carol': { quota: { publish: { messagesPerSecond: 20 } } },
    'key:open': {},
    'key:rested': RESTED,
  };
  const keys = {
    'customer:{id}': { quota: { publish: { messagesPerSecond: 1000 } } },
    'rested:{id}': RESTED,
    'plan:{id}': PLAN,
  };
  const config = { cluster: 'services', node: 'a', topic: 'memory', groups, keys };
  const node = await createNode({ config, env: {} });
  await node.acquire('key:alice', { messages: 1 }, { waitMs: 10_000 });
  return node;
}

/** Full again after 10 ms. */
const RESTED = { quota: { publish: { messagesPerSecond: 1000 } }, burst: 10 };

/** One a day, and more for whom the service knows. */
const PLAN = {
  quota: { publish: { messagesPerSecond: '1/d' } },
  burst: { messages: 1, start: 'empty' },
  allowLimits: { quota: { publish: { messagesPerSecond: 1000 } } },
};

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

export async function servedBy(server: Server): Promise<Served> {
  // A client may pause for longer than the five seconds after which Node would close its connection.
  server.keepAliveTimeout = 0;
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
