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

/** Every project loads this module anew, and vitest ends them all at the end of its run: what they share is with their vitest. */
const shared = globalThis as { quotameshOffers?: WeakMap<object, Promise<Offer>> };
shared.quotameshOffers ??= new WeakMap();
const offers = shared.quotameshOffers;

interface Offer {
  readonly port: number;
  stop(): Promise<void>;
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const offer = offers.get(project.vitest) ?? offerKafka();
  offers.set(project.vitest, offer);
  const { port, stop } = await offer;
  project.provide('sharedKafkaPort', port);
  return stop;
}

async function offerKafka(): Promise<Offer> {
  let starting: Promise<Kafka> | undefined;
  const server = createServer((socket) => {
    starting ??= startKafka();
    void answer(socket, starting);
  });
  const port = await listen(server);
  const stop = async () => {
    server.close();
    await starting?.then(
      (kafka) => kafka.stop(),
      () => {},
    );
  };
  let stopping: Promise<void> | undefined;
  const stopOnce = () => {
    stopping ??= stop();
    return stopping;
  };
  return { port, stop: stopOnce };
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
