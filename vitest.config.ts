import { defineConfig } from 'vitest/config';

/**
 * quick: everything in virtual time or in one process, in parallel.
 * real:  real processes, real Kafka; one file at a time, because two at once would measure each other.
 * long:  soaks and long outages, `npm run test:long` only.
 */
const common = { testTimeout: 20_000, hookTimeout: 120_000 };
const realFiles = ['test/integration/**/*.test.ts', 'test/conformance/kafka-*.test.ts', 'test/kafka/**/*.test.ts'];
const globalSetup = ['test/kafka/global-setup.ts'];

export default defineConfig({
  test: {
    projects: [
      { test: { ...common, name: 'quick', include: ['test/**/*.test.ts'], exclude: ['test/long/**', ...realFiles] } },
      { test: { ...common, name: 'real', include: realFiles, fileParallelism: false, testTimeout: 60_000, globalSetup } },
      {
        test: {
          ...common,
          ...{ name: 'long', include: ['test/long/**/*.test.ts'], fileParallelism: false, testTimeout: 1_200_000, globalSetup },
        },
      },
    ],
  },
});
