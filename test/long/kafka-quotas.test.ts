import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../src/config/files/load-config.js';
import type { KafkaTopicConfig } from '../../src/config/resolved/resolved-config.js';
import { PACKAGE_ROOT } from '../../src/package/package-root.js';
import { ClientQuotaAdmin } from '../../src/topic/kafka/client-quota-admin.js';
import { createTopic, withAdmin } from '../kafka/admin.js';
import { KAFKA_START_TIMEOUT_MS, type Kafka, startKafka } from '../kafka/kafka.js';
import { KeeperProcess, keeperYaml } from '../kafka/quotas/keeper-process.js';
import { ProducerLoad } from '../kafka/quotas/producer-load.js';
import { CliScene } from '../unit/cli/cli-process.js';

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

interface SceneOptions {
  readonly name: string;
  readonly wants: number[];
  readonly replicas?: readonly (readonly number[])[];
}

async function sceneOf({ name, wants, replicas = [[1], [2]] }: SceneOptions) {
  const cli = new CliScene(onTestFinished);
  const topic = `load-${name}`;
  const replicaAssignment = replicas.map((each, partition) => ({ partition, replicas: [...each] }));
  await createTopic(kafka.brokers, topic, {}, { replicaAssignment });
  const yaml = keeperYaml({
    ...kafka,
    topic: `keepers-${name}`,
    groups: { app: { quota: { publish: { bytesPerSecond: QUOTA } } } },
    entities: [{ clientId: name, group: 'app' }],
    // Brokers, clients and keepers share the cores of this machine.
    further: { timeoutMs: 5000 },
  });
  const file = join(cli.folderWith({ 'keeper.yaml': yaml }), 'keeper.yaml');
  const load = new ProducerLoad({
    brokers: kafka.brokers,
    clientId: name,
    topic,
    wants,
    requestBytes: REQUEST_BYTES,
    inFlight: IN_FLIGHT,
  });
  await load.start();
  onTestFinished(() => load.stop());
  return {
    cli,
    file,
    load,
    topic,
    keeper: (id: string, args: string[] = []) => new KeeperProcess(cli, file, id, args),
  };
}

function total(rates: readonly number[]): number {
  return rates.reduce((sum, rate) => sum + rate, 0);
}

const kept = ({ limits }: { limits: readonly { readonly state: string; readonly inForce: number | null }[] }) =>
  limits[0]?.state === 'kept' && limits[0].inForce !== null;

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
    expect(Math.abs(total(before) / QUOTA - 1)).toBeLessThan(0.05);
    expect(Math.abs(total(after) / QUOTA - 1)).toBeLessThan(0.05);
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
    const { load, keeper } = await sceneOf({ name: 'two', wants: [800_000, 100_000] });
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
    const { limits } = await b.status();
    await sleep(3000);
    expect((await b.status()).limits[0]?.inForce).toBe(limits[0]?.inForce);
    await b.untilStatus(({ mayWrite }) => mayWrite, 'b to write');
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
