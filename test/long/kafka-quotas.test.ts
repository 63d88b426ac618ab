import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Kafka as Client, logLevel } from 'kafkajs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { PACKAGE_ROOT } from '../../src/base/package/package-root.js';
import { loadConfig } from '../../src/config/files/load-config.js';
import { ClientQuotaAdmin } from '../../src/topic/kafka/client-quota-admin.js';
import type { KafkaTopicConfig } from '../../src/topic/kafka/kind.js';
import { createTopic, withAdmin } from '../kafka/admin.js';
import { KAFKA_START_TIMEOUT_MS, type Kafka, startKafka } from '../kafka/kafka.js';
import { movedClock } from '../kafka/moved-clock.js';
import { FaultyExporter } from '../kafka/quotas/faulty-exporter.js';
import {
  inKb,
  type KafkaQuotaSceneOptions,
  kafkaQuotaScene,
  isKept as kept,
  offBy,
  total,
} from '../kafka/quotas/kafka-quota-scene.js';

/** Two real brokers whose exporters run with the rules that we ship. */
const QUOTA = 500_000;
const SETTLE_SECONDS = 12;
/** Together at most a quarter of a second of what one broker may have: 80 kB of 400 kB/s. */
const IN_FLIGHT = 4;
const REQUEST_BYTES = 20_000;
let kafka: Kafka;

beforeAll(async () => {
  const exporterRules = fileURLToPath(new URL('deploy/kafka/jmx.yml', PACKAGE_ROOT));
  kafka = await startKafka({ nodes: 2, properties: { 'quota.window.num': '1' }, exporterRules });
}, KAFKA_START_TIMEOUT_MS);
afterAll(() => kafka?.stop());

const sceneOf = (
  options: Omit<KafkaQuotaSceneOptions, 'kafka' | 'quota' | 'requestBytes' | 'inFlight'> & { kafka?: Kafka },
) => kafkaQuotaScene({ kafka, quota: QUOTA, requestBytes: REQUEST_BYTES, inFlight: IN_FLIGHT, ...options });

describe('two brokers, quota.window.num=1', () => {
  test('one client id, leaders uneven, demand moved: the total is within 5 % of the quota over 20 s', async () => {
    const { load, keeper } = await sceneOf({ name: 'uneven', wants: [800_000, 100_000] });
    const a = keeper('a');
    await a.untilStatus(kept, 'quota kept');
    await sleep(1000 * SETTLE_SECONDS);
    const before = await load.ratesOver(20);
    [load.wants[0], load.wants[1]] = [100_000, 800_000];
    const second: string[] = [];
    for (let at = 0; at < SETTLE_SECONDS; at++)
      second.push((await load.ratesOver(1)).map((rate) => Math.round(rate / 1000)).join('+'));
    const after = await load.ratesOver(20);
    console.log(`800+100: ${before.map(Math.round)}; turned: ${second.join(' ')}; 100+800: ${after.map(Math.round)}`);
    console.log(JSON.stringify((await a.status()).limits));
    expect(offBy(before, QUOTA)).toBeLessThan(0.05);
    expect(offBy(after, QUOTA)).toBeLessThan(0.05);
  });

  test('a leader moves: its client has the quota again within 5 s', async () => {
    const { load, keeper, topic } = await sceneOf({ name: 'moved', wants: [800_000, 100_000] });
    const a = keeper('a');
    await a.untilStatus(kept, 'quota kept');
    await sleep(1000 * SETTLE_SECONDS);
    await withAdmin(kafka.brokers, (admin) =>
      admin.alterPartitionReassignments({
        topics: [{ topic, partitionAssignment: [{ partition: 0, replicas: [2] }] }],
      }),
    );
    const leaderOf = async () =>
      withAdmin(kafka.brokers, async (admin) => {
        const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
        return topics[0]?.partitions.find(({ partitionId }) => partitionId === 0)?.leader;
      });
    while ((await leaderOf()) !== 2) await sleep(50);
    const seconds: number[] = [];
    for (let at = 0; at < 15; at++) seconds.push(total(await load.ratesOver(1)));
    console.log(`after the move: ${seconds.map((rate) => Math.round(rate / 1000)).join(' ')}`);
    console.log(JSON.stringify((await a.status()).limits));
    expect(Math.max(...seconds.slice(0, 5))).toBeGreaterThan(0.9 * QUOTA);
    expect(Math.abs(total(seconds.slice(5)) / 10 / QUOTA - 1)).toBeLessThan(0.05);
  });

  test('two keepers at once: one writes; killed, the value stays and the other goes on; frozen and thawed, never both', async () => {
    const { load, file, keeper } = await sceneOf({ name: 'two', wants: [800_000, 100_000] });
    const [a, b] = [keeper('a'), keeper('b')];
    await Promise.all([a, b].map((each) => each.untilStatus(({ keepers }) => keepers.length === 2, 'two keepers')));
    await a.untilStatus(kept, 'quota kept');
    // The writer has something to write.
    const turn = setInterval(() => load.wants.reverse(), 3000);
    onTestFinished(() => clearInterval(turn));
    await sleep(15_000);
    a.process.kill('SIGSTOP');
    const frozenMs = Date.now();
    await b.untilStatus(({ mayWrite }) => mayWrite, 'b to write');
    await sleep(15_000);
    a.process.kill('SIGCONT');
    const thawedMs = Date.now();
    await a.untilStatus(({ mayWrite, writer }) => mayWrite && writer === 'a', 'a to write again');
    await sleep(15_000);
    const sent = [...a.sentMs.map((ms) => ({ by: 'a', ms })), ...b.sentMs.map((ms) => ({ by: 'b', ms }))];
    const inOrder = sent.sort((one, other) => one.ms - other.ms);
    const turns = inOrder.filter(({ by }, at) => by !== inOrder[at - 1]?.by).map(({ by }) => by);
    console.log(`sent: ${inOrder.map(({ by, ms }) => `${by}${Math.round((ms - frozenMs) / 100) / 10}`).join(' ')}`);
    expect(turns).toEqual(['a', 'b', 'a']);
    expect(Math.min(...a.sentMs.filter((ms) => ms > frozenMs + 1000))).toBeGreaterThan(thawedMs);
    clearInterval(turn);
    // Killed for good: what was in force stays, and then the other one writes.
    a.process.kill('SIGKILL');
    // Kafka is asked: what b has read may be older than what a has written last.
    const config = await loadConfig({ file, env: {} });
    const admin = new ClientQuotaAdmin(config.topic as KafkaTopicConfig, () => {});
    onTestFinished(() => admin.close());
    const inForce = async () => {
      const described = await admin.describe();
      const ours = described.find(({ entity }) => entity.some(({ name }) => name === 'two'));
      return ours?.values.find(({ key }) => key === 'producer_byte_rate')?.value;
    };
    // What a has sent before it was killed is applied by then.
    await sleep(500);
    const left = await inForce();
    expect(left).toBeGreaterThan(0);
    await sleep(2500);
    expect(await inForce()).toBe(left);
    await b.untilStatus(({ mayWrite }) => mayWrite, 'b to write');
  });

  test('exporters: one gone, one with a page of 50 MB, one whose rules match nothing; a quota that somebody changes meanwhile', async () => {
    const faulty = await Promise.all(kafka.exporters.map((exporter) => FaultyExporter.before(exporter)));
    onTestFinished(() => {
      for (const each of faulty) each.close();
    });
    const second = faulty[1];
    const exporters = faulty.map(({ url }) => url);
    const { load, file, keeper } = await sceneOf({ name: 'faulty', wants: [800_000, 100_000], exporters });
    const a = keeper('a');
    await a.untilStatus(kept, 'quota kept');
    await sleep(1000 * SETTLE_SECONDS);
    second.fault = 'gone';
    await a.untilStatus(({ exporters: [, gone], limits }) => {
      return gone?.state === 'unknown' && limits[0]?.inForce === QUOTA / 2;
    }, 'its broker taken to want everything');
    const alone = await load.ratesOver(5);
    second.fault = 'huge';
    await a.untilStatus(({ limits }) => (limits[0]?.inForce ?? 0) > 0.7 * QUOTA, 'the quota of before');
    const huge = await load.ratesOver(20);
    const { exporters: states } = await a.status();
    second.fault = 'other';
    const line = await a.process.logged('exporter has a page without any client’s rate');
    second.fault = 'none';
    console.log(`gone: ${inKb(alone)}; 50 MB: ${inKb(huge)}; ${JSON.stringify(line)}`);
    expect(total(alone)).toBeLessThan(1.05 * QUOTA);
    expect(states.map(({ state }) => state)).toEqual(['fine', 'fine']);
    expect(offBy(huge, QUOTA)).toBeLessThan(0.05);
    expect(line).toMatchObject({ exporter: second.url, expected: 'client-id=faulty' });
    const config = await loadConfig({ file, env: {} });
    const admin = new ClientQuotaAdmin(config.topic as KafkaTopicConfig, () => {});
    onTestFinished(() => admin.close());
    const entity = [{ type: 'client-id', name: 'faulty' }];
    await admin.alter([{ entity, changes: [{ key: 'producer_byte_rate', value: 222_222 }] }], () => true);
    await a.untilStatus(({ limits }) => limits[0]?.state === 'left', 'a quota left alone');
    const foreign = await a.process.logged('a quota was set by somebody else, and is left alone');
    expect(foreign).toMatchObject({ entity: 'client-id faulty', found: 222_222 });
    await admin.alter([{ entity, changes: [{ key: 'producer_byte_rate', value: null }] }], () => true);
    await a.untilStatus(({ limits }) => limits[0]?.state === 'kept' && limits[0].inForce !== null, 'it kept again');
  });

  test('somebody else’s quota is left, adopted with --adopt, and put back by --release', async () => {
    const { cli, file, keeper } = await sceneOf({ name: 'adopted', wants: [100_000, 100_000] });
    const config = await loadConfig({ file, env: {} });
    const admin = new ClientQuotaAdmin(config.topic as KafkaTopicConfig, () => {});
    onTestFinished(() => admin.close());
    const entity = [{ type: 'client-id', name: 'adopted' }];
    const key = 'producer_byte_rate';
    const valueNow = async () => {
      const described = await admin.describe();
      return described.find(({ entity: [part] }) => part?.name === 'adopted')?.values.find((each) => each.key === key)
        ?.value;
    };
    await admin.alter([{ entity, changes: [{ key, value: 123_456 }] }], () => true);
    const first = keeper('a');
    await first.untilStatus(({ limits }) => limits[0]?.state === 'left', 'a quota left alone');
    expect(await valueNow()).toBe(123_456);
    first.process.kill('SIGTERM');
    expect((await first.process.exit).code).toBe(0);
    const second = keeper('a', ['--adopt']);
    await second.untilStatus(({ limits }) => limits[0]?.state === 'kept' && limits[0].inForce !== 123_456, 'it kept');
    const refused = await cli.start(['kafka-quotas', '--config', file, '--release']).exit;
    expect(refused).toMatchObject({ code: 69, stderr: expect.stringContaining('keepers of Kafka’s quotas are alive') });
    second.process.kill('SIGTERM');
    await second.process.exit;
    const released = await cli.start(['kafka-quotas', '--config', file, '--release']).exit;
    console.log(released.stdout);
    expect(released).toMatchObject({ code: 0, stderr: '' });
    expect(released.stdout).toContain('123456, as it was before');
    expect(await valueNow()).toBe(123_456);
  });
});

test(
  'the clock of one broker is an hour fast: the quota is kept as ever, and one keeper writes',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'quotamesh-clock-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const fast = await movedClock(folder, 3600);
    const exporterRules = fileURLToPath(new URL('deploy/kafka/jmx.yml', PACKAGE_ROOT));
    const cluster = await startKafka({
      nodes: 2,
      properties: { 'quota.window.num': '1' },
      exporterRules,
      environment: (place) => (place === 1 ? fast : {}),
    });
    onTestFinished(() => cluster.stop());
    const [first, second] = await Promise.all([1, 2].map((replica) => timeOfRecordsAt(cluster, replica)));
    expect(second - first).toBeGreaterThan(3_500_000);
    const { load, keeper } = await sceneOf({ kafka: cluster, name: 'fast', wants: [100_000, 800_000] });
    const [a, b] = [keeper('a'), keeper('b')];
    await a.untilStatus(kept, 'quota kept');
    await sleep(1000 * SETTLE_SECONDS);
    const rates = await load.ratesOver(20);
    console.log(`the second broker is an hour fast: ${inKb(rates)}`);
    expect(offBy(rates, QUOTA)).toBeLessThan(0.05);
    expect(b.sentMs).toEqual([]);
  },
  KAFKA_START_TIMEOUT_MS,
);

/** What the log of a topic at this broker takes for the time. */
async function timeOfRecordsAt({ brokers }: Kafka, replica: number): Promise<number> {
  const topic = `time-at-${replica}`;
  const appendTime = { 'message.timestamp.type': 'LogAppendTime' };
  await createTopic(brokers, topic, appendTime, { replicaAssignment: [{ partition: 0, replicas: [replica] }] });
  const producer = new Client({ clientId: 'time', brokers: [...brokers], logLevel: logLevel.NOTHING }).producer();
  await producer.connect();
  const [written] = await producer.send({ topic, messages: [{ value: 'now' }] });
  await producer.disconnect();
  return Number(written?.logAppendTime);
}
