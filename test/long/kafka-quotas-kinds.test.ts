import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/base/package/package-root.js';
import { loadConfig } from '../../src/config/files/load-config.js';
import { ClientQuotaAdmin } from '../../src/topic/kafka/client-quota-admin.js';
import type { KafkaTopicConfig } from '../../src/topic/kafka/kind.js';
import { KAFKA_START_TIMEOUT_MS, type Kafka, startKafka } from '../kafka/kafka.js';
import {
  inKb,
  isKept,
  type KafkaQuotaSceneOptions,
  kafkaQuotaScene,
  offBy,
  total,
} from '../kafka/quotas/kafka-quota-scene.js';
import { ProducerLoad } from '../kafka/quotas/producer-load.js';

const QUOTA = 600_000;
const SETTLE_SECONDS = 12;
const STEADY_SECONDS = 20;
const OFF_MAX = 0.05;
/**
 * Together at most a quarter of a second of what one broker may have: 80 kB of 450 kB/s. A request is a fortieth of it,
 * because a broker tells by half a request per span more of whoever it does not hold back, and L is lower by that.
 */
const SIZES = { requestBytes: 10_000, inFlight: 8 };
/** Without SASL everybody is this user. */
const USER = 'ANONYMOUS';
let kafka: Kafka;

beforeAll(async () => {
  const exporterRules = fileURLToPath(new URL('deploy/kafka/jmx.yml', PACKAGE_ROOT));
  kafka = await startKafka({ nodes: 3, properties: { 'quota.window.num': '1' }, exporterRules });
}, KAFKA_START_TIMEOUT_MS);
afterAll(() => kafka?.stop());

const sceneOf = (options: Omit<KafkaQuotaSceneOptions, 'kafka' | 'quota' | keyof typeof SIZES>) =>
  kafkaQuotaScene({ kafka, quota: QUOTA, ...SIZES, ...options });

interface Load {
  ratesOver(seconds: number): Promise<number[]>;
}

async function steadyRates(load: Load, settle = SETTLE_SECONDS, steady = STEADY_SECONDS): Promise<number[]> {
  await load.ratesOver(settle);
  return load.ratesOver(steady);
}

/** The same limit at every broker, as an operator sets it without quotamesh. */
async function byHand(file: string, clientId: string, value: number | null): Promise<void> {
  const config = await loadConfig({ file, env: {} });
  const admin = new ClientQuotaAdmin(config.topic as KafkaTopicConfig, () => {});
  const entity = [{ type: 'client-id', name: clientId }];
  await admin.alter([{ entity, changes: [{ key: 'producer_byte_rate', value }] }], () => true);
  await admin.close();
}

describe('three brokers, quota.window.num=1', () => {
  // The first one: no quota is in Kafka yet, so that brokers tell of nobody.
  test('a pattern alone: whoever matches it is seen, and shares the quota', async () => {
    const entities = [{ clientId: 'pat*', group: 'app' }];
    const { load, keeper, release } = await sceneOf({ name: 'pattern', wants: [800_000, 100_000, 50_000], entities });
    const a = keeper('a');
    const { limits } = await a.untilStatus(isKept, 'quota kept');
    expect(limits.map(({ entity }) => entity)).toEqual(['client-id pattern']);
    const rates = await steadyRates(load);
    const released = await release(a);
    console.log(`a pattern: ${inKb(rates)}; released: ${released}`);
    expect(released).toContain('client-id quotamesh-marker: producer_byte_rate 1000000000000000 → removed');
    expect(offBy(rates, QUOTA)).toBeLessThan(OFF_MAX);
  });

  test('one client id at two skews: by hand quota ÷ 3 or 3 × as much, with the keeper the quota', async () => {
    const skews = [
      [800_000, 100_000, 50_000],
      [800_000, 800_000, 800_000],
    ];
    const { load, file, keeper } = await sceneOf({ name: 'skewed', wants: [...skews[0]] });
    const lines: string[] = [];
    const measure = async (what: string) => {
      for (const wants of skews) {
        load.wants.splice(0, 3, ...wants);
        // Shows what Kafka does by itself, and judges nothing.
        const rates = what === 'keeper' ? await steadyRates(load) : await steadyRates(load, 3, 5);
        lines.push(`${what}, wants ${inKb(wants)}: ${inKb(rates)} = ${(total(rates) / QUOTA).toFixed(2)} of the quota`);
        if (what === 'keeper') expect(offBy(rates, QUOTA), lines.join('\n')).toBeLessThan(OFF_MAX);
      }
    };
    await byHand(file, 'skewed', QUOTA);
    await measure('quota at each');
    await byHand(file, 'skewed', QUOTA / 3);
    await measure('quota ÷ 3 at each');
    await byHand(file, 'skewed', null);
    const a = keeper('a');
    await a.untilStatus(isKept, 'quota kept');
    await measure('keeper');
    console.log(lines.join('\n'));
  });

  test('producers of a pair of user and client id', async () => {
    const entities = [{ user: USER, clientId: 'pair', group: 'app' }];
    const { load, keeper, release } = await sceneOf({ name: 'pair', wants: [800_000, 100_000, 0], entities });
    const a = keeper('a');
    await a.untilStatus(isKept, 'quota kept');
    const rates = await steadyRates(load);
    const status = await a.status();
    console.log(`user and client id: ${inKb(rates)}; released: ${await release(a)}`);
    expect(status.limits[0]?.entity).toBe(`user ${USER}, client-id pair`);
    expect(offBy(rates, QUOTA)).toBeLessThan(OFF_MAX);
  });

  test('the default: each client without a quota of its own may have the quota, and the one with its own has that', async () => {
    const entities = [
      { clientId: '<default>', group: 'app' },
      { clientId: 'named', group: 'named' },
    ];
    const groups = { named: { quota: { publish: { bytesPerSecond: QUOTA / 4 } } } };
    const { load, keeper, release, topic } = await sceneOf({
      name: 'everybody',
      wants: [800_000, 100_000, 0],
      entities,
      groups,
    });
    const wants = [100_000, 100_000, 100_000];
    const named = new ProducerLoad({ ...SIZES, brokers: kafka.brokers, clientId: 'named', topic, wants, inFlight: 1 });
    await named.start();
    onTestFinished(() => named.stop());
    const a = keeper('a');
    await a.untilStatus(({ limits }) => limits.every(({ state }) => state === 'kept'), 'both quotas kept');
    const [rates, rest] = await Promise.all([steadyRates(load), steadyRates(named)]);
    console.log(`default: ${inKb(rates)}; named: ${inKb(rest)}; released: ${await release(a)}`);
    expect(offBy(rates, QUOTA)).toBeLessThan(OFF_MAX);
    expect(offBy(rest, QUOTA / 4)).toBeLessThan(OFF_MAX);
  });

  // The last one: a quota of the user takes precedence over those of client ids.
  test('producers of a user, whatever their client ids', async () => {
    const entities = [{ user: USER, group: 'app' }];
    const { load, keeper, release } = await sceneOf({ name: 'someone', wants: [800_000, 0, 100_000], entities });
    const a = keeper('a');
    await a.untilStatus(isKept, 'quota kept');
    const rates = await steadyRates(load);
    console.log(`user: ${inKb(rates)}; released: ${await release(a)}`);
    expect(offBy(rates, QUOTA)).toBeLessThan(OFF_MAX);
  });
});
