/**
 * Offers one Kafka broker to all tests of a run: `globalSetup: ['test/kafka/global-setup.ts']` in the vitest
 * configuration. It is started when the first test asks, so that a run without Kafka tests starts none.
 */
import { createServer, type Server, type Socket } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type Kafka, startKafka } from './kafka.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Loopback port that answers a connection with one line of JSON, a SharedKafkaAnswer. */
    readonly sharedKafkaPort: number;
  }
}

export type SharedKafkaAnswer = { readonly brokers: readonly string[] } | { readonly error: string };

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  let starting: Promise<Kafka> | undefined;
  const server = createServer((socket) => {
    starting ??= startKafka();
    void answer(socket, starting);
  });
  project.provide('sharedKafkaPort', await listen(server));
  return async () => {
    server.close();
    await starting?.then(
      (kafka) => kafka.stop(),
      () => {},
    );
  };
}

async function answer(socket: Socket, starting: Promise<Kafka>): Promise<void> {
  // A test that gave up waiting resets its connection.
  socket.on('error', () => {});
  const reply: SharedKafkaAnswer = await starting.then(
    ({ brokers }) => ({ brokers }),
    (error: unknown) => ({ error: error instanceof Error ? error.message : String(error) }),
  );
  socket.end(`${JSON.stringify(reply)}\n`);
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('a TCP server without a port'));
      else resolve(address.port);
    });
    server.unref();
  });
}
