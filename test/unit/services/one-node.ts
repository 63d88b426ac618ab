import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createNode, type QuotaNode } from '../../../src/index.js';

/** Five at once, and then one in 20 s: a bucket that is full from the start, and does not fill within a test. */
const FIVE = { quota: { publish: { messagesPerMinute: 3 } }, burstMinMessages: 5 };

/** A node on a topic in memory with the groups that the tests of the middlewares and stores ask. */
export async function oneNode(): Promise<QuotaNode> {
  const names = ['five', 'key:alice', 'key:bob', 'waits'];
  const groups = {
    ...Object.fromEntries(names.map((name) => [name, FIVE])),
    waits: { quota: { publish: { messagesPerSecond: 10 } }, burstMinMessages: 1, burstMs: 100 },
    open: {},
  };
  const config = { cluster: 'services', node: 'a', topic: 'memory', groups };
  return createNode({ config, env: {} });
}

export interface Served {
  readonly url: string;
  close(): Promise<void>;
}

export async function served(listener: RequestListener): Promise<Served> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return servedBy(server);
}

export function servedBy(server: Server): Served {
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
