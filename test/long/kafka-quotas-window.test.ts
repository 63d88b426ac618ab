import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/base/package/package-root.js';
import { KAFKA_START_TIMEOUT_MS, type Kafka, startKafka } from '../kafka/kafka.js';
import { inKb, isKept, kafkaQuotaScene, offBy, total } from '../kafka/quotas/kafka-quota-scene.js';

const QUOTA = 500_000;
/** The means of eleven seconds swing for about three of them. */
const SETTLE_SECONDS = 33;
const SECONDS = 66;
let kafka: Kafka;

beforeAll(async () => {
  const exporterRules = fileURLToPath(new URL('deploy/kafka/jmx.yml', PACKAGE_ROOT));
  kafka = await startKafka({ nodes: 2, exporterRules });
}, KAFKA_START_TIMEOUT_MS);
afterAll(() => kafka?.stop());

test('two brokers with Kafka’s default window of eleven seconds: the mean is held, roughly by the second', async () => {
  const name = 'rough';
  const { load, keeper } = await kafkaQuotaScene({
    kafka,
    quota: QUOTA,
    name,
    wants: [800_000, 100_000],
    requestBytes: 20_000,
    inFlight: 4,
  });
  const a = keeper('a');
  await a.untilStatus(isKept, 'quota kept');
  expect((await a.process.logged('quota.window.num is not 1: rates will be rough')).windows).toBe(11);
  await load.ratesOver(SETTLE_SECONDS);
  const seconds: number[][] = [];
  for (let at = 0; at < SECONDS; at++) seconds.push(await load.ratesOver(1));
  const mean = [0, 1].map((broker) => seconds.reduce((sum, rates) => sum + rates[broker], 0) / SECONDS);
  const busy = seconds.map(([first = 0]) => first);
  const deviation = Math.sqrt(busy.reduce((sum, rate) => sum + (rate - mean[0]) ** 2, 0) / SECONDS);
  console.log(
    `eleven spans: ${inKb(mean)} = ${(total(mean) / QUOTA).toFixed(2)} of the quota over ${SECONDS} s; the busy broker ` +
      `by the second: ${busy.map((rate) => Math.round(rate / 1000)).join(' ')}, variation ${(deviation / mean[0]).toFixed(2)}`,
  );
  expect(offBy(mean, QUOTA)).toBeLessThan(0.1);
});
