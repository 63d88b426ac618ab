import { connect } from 'node:net';
import { inject } from 'vitest';
import type { SharedKafkaAnswer } from './global-setup.js';

let asked: Promise<readonly string[]> | undefined;

/**
 * host:port of the broker(s) that all tests of this run share; never break it, and use topic names of your own.
 * KAFKA_BOOTSTRAP (comma separated) names one that is running already. The first call of a run starts it (about 3 s,
 * longer when the jars must be fetched: give `beforeAll` a minute or more).
 */
export function sharedKafka(): Promise<readonly string[]> {
  asked ??= process.env.KAFKA_BOOTSTRAP ? Promise.resolve(process.env.KAFKA_BOOTSTRAP.split(',')) : ask();
  return asked;
}

function ask(): Promise<readonly string[]> {
  const port = inject('sharedKafkaPort');
  if (port === undefined) throw new Error("vitest needs globalSetup: ['test/kafka/global-setup.ts']");
  return new Promise((resolve, reject) => {
    let line = '';
    const socket = connect(port, '127.0.0.1');
    socket.on('data', (chunk) => {
      line += chunk.toString();
    });
    socket.once('error', reject);
    socket.once('end', () => {
      const answer = JSON.parse(line) as SharedKafkaAnswer;
      if ('error' in answer) reject(new Error(answer.error));
      else resolve(answer.brokers);
    });
  });
}
