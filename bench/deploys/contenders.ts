import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKafka } from '../../test/kafka/kafka.js';
import { startRedis } from '../../test/redis/redis.js';
import type { Bound } from './verdict.js';

/** A limiter of the service, and what it needs beside the instances. */
export interface Contender {
  readonly name: string;
  readonly bound: Bound;
  start(): Promise<{ readonly settings: object; stop(): Promise<void> }>;
}

/** Leaves out the advances that `account` of promises.md allows at starts and kills. */
const PROMISED: Bound = {
  depths: 3,
  perLifeChange: 1 / 3,
  words: '3 depths, and 1/3 for each instance started or killed',
};

export const CONTENDERS: Readonly<Record<string, Contender>> = {
  embedded: {
    name: 'quotamesh, embedded topic',
    bound: PROMISED,
    start: async () => {
      const path = await mkdtemp(join(tmpdir(), 'quotamesh-deploys-'));
      return {
        settings: { limiter: 'quotamesh', topic: { kind: 'embedded', path } },
        stop: () => rm(path, { recursive: true, force: true }),
      };
    },
  },
  kafka: {
    name: 'quotamesh, Kafka',
    bound: PROMISED,
    start: async () => {
      const kafka = await startKafka();
      const topic = { kind: 'kafka', brokers: kafka.brokers, name: 'deploys' };
      return { settings: { limiter: 'quotamesh', topic }, stop: () => kafka.stop() };
    },
  },
  'express-rate-limit': {
    name: 'express-rate-limit, Redis',
    bound: { depths: 2, perLifeChange: 0, words: 'two windows around their edge' },
    start: async () => {
      const redis = await startRedis();
      return { settings: { limiter: 'express-rate-limit', redisPort: redis.port }, stop: () => redis.stop() };
    },
  },
};
