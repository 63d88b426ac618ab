import { defineConfig } from 'vitest/config';

/**
 * quick:     everything in virtual time or in one process: computes, and waits for nothing
 * processes: the command, the embedded topic with several processes, and the limiter in real time
 * redis:     the Redis topic against real servers; mostly waiting
 * kafka:     the Kafka topic against real brokers; mostly waiting
 * stories:   what clusters of real processes promise under load, to a per cent: one at a time
 * cluster:   other clusters of real processes, with wider bounds
 * demo:      `npm start` as a user runs it, with its verdict: alone
 * long:      soaks and long outages, `npm run test:long` only, one file at a time
 */
const common = { testTimeout: 30_000, hookTimeout: 120_000 };
const processes = [
  ...['test/unit/cli/{commands,operate,run,reload,process-guard}.test.ts', 'test/integration/embedded-*.test.ts'],
  'test/integration/token-bucket-real-time.test.ts',
  'test/unit/admission/ways-to-take.test.ts',
];
const kafka = ['test/conformance/kafka-*.test.ts', 'test/integration/kafka-*.test.ts', 'test/kafka/**/*.test.ts'];
/** Against a real Redis. */
const redis = ['test/conformance/redis-*.test.ts', 'test/integration/redis-*.test.ts'];
const stories = ['test/integration/{cluster-*,hot-reloads,outage-kafka,stalled-node}.test.ts'];
const cluster = ['test/integration/**/*.test.ts'];
const demo = ['test/integration/demo.test.ts'];
/** Two MQTT brokers: 40 s; Pulsar’s client, a JVM per command: 2 min; 50 s, 20 s, 70 s: more than npm test has. */
const long = [
  'test/long/**/*.test.ts',
  'test/integration/{mqtt-cluster,pulsar-admin,outage-redis,hot-halved,pools-embedded}.test.ts',
];
const globalSetup = ['test/kafka/global-setup.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...{ ...common, name: 'quick', include: ['test/**/*.test.ts'], testTimeout: 120_000 },
          // One module graph per worker: half of the time went into loading it anew for every file.
          isolate: false,
          exclude: [...processes, ...kafka, ...redis, ...cluster, ...long],
        },
      },
      { test: { ...common, name: 'processes', include: processes, testTimeout: 60_000, retry: 1 } },
      { test: { ...common, name: 'redis', include: redis, testTimeout: 60_000, retry: 1 } },
      { test: { ...common, name: 'kafka', include: kafka, testTimeout: 60_000, retry: 1, globalSetup } },
      {
        test: {
          ...{ ...common, name: 'cluster', include: cluster, testTimeout: 60_000, globalSetup },
          exclude: [...processes, ...kafka, ...redis, ...stories, ...demo, ...long],
        },
      },
      { test: { ...common, name: 'stories', include: stories, testTimeout: 60_000, globalSetup } },
      { test: { ...common, name: 'demo', include: demo, testTimeout: 60_000 } },
      {
        test: { ...common, ...{ name: 'long', include: long, fileParallelism: false, testTimeout: 1_200_000, globalSetup } },
      },
    ],
  },
});
