import { createServer, type Server } from 'node:net';
import { expect, test } from 'vitest';
import { portsFor } from '../../../src/tools/processes/free-ports.js';

function listen(port: number): Promise<Server> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port }, () => resolve(server));
  });
}

test('other ports where one of the wanted is taken, all different and free', async () => {
  const taken = await listen(0);
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const ports = await portsFor(3, port - 1);
  expect(new Set(ports).size).toBe(3);
  expect(ports).not.toContain(port);
  const servers = await Promise.all(ports.map(listen));
  for (const server of [...servers, taken]) server.close();
});
