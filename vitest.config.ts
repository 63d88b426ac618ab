import { defineConfig } from 'vitest/config';

/**
 * quick:    everything in virtual time or in one process
 * adapters: the topics against real processes and real brokers; mostly waiting, so they run beside the quick ones
 * cluster:  whole clusters of real processes under load; one at a time, because two would measure each other
 * demo:     `npm start` as a user runs it, with its verdict: alone
 * long:     soaks and long outages, `npm run test:long` only, one file at a time
 */
const common = { testTimeout: 30_000, hookTimeout: 120_000 };
const adapters = [
  'test/conformance/kafka-*.test.ts',
  'test/integration/kafka-*.test.ts',
  'test/integration/embedded-*.test.ts',
  'test/kafka/**/*.test.ts',
];
const cluster = ['test/integration/**/*.test.ts'];
const demo = ['test/integration/demo.test.ts'];
const long = ['test/long/**/*.test.ts'];
const globalSetup = ['test/kafka/global-setup.ts'];

export default defineConfig({
  test: {
    projects: [
      { test: { ...common, name: 'quick', include: ['test/**/*.test.ts'], exclude: [...adapters, ...cluster, ...long] } },
      { test: { ...common, name: 'adapters', include: adapters, testTimeout: 60_000, retry: 1, globalSetup } },
      { test: { ...common, name: 'cluster', include: cluster, exclude: [...adapters, ...demo], testTimeout: 60_000, globalSetup } },
      { test: { ...common, name: 'demo', include: demo, testTimeout: 60_000 } },
      {
        test: { ...common, ...{ name: 'long', include: long, fileParallelism: false, testTimeout: 1_200_000, globalSetup } },
      },
    ],
  },
});
