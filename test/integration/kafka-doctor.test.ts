import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import { ConfigResourceTypes } from 'kafkajs';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { silentTelemetry } from '../../src/base/ports/telemetry.js';
import { resolveConfig } from '../../src/config/read/resolve-config.js';
import { createTopic as createSigned } from '../../src/node/loop/open-topics.js';
import { findingsExitCode } from '../../src/tools/cli/config/show-findings.js';
import { examine } from '../../src/tools/doctor/examine.js';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { ClientQuotaAdmin } from '../../src/topic/kafka/client-quota-admin.js';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import { CREATED_WITH } from '../../src/topic/kafka/topic-settings.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { createTopic, withAdmin } from '../kafka/admin.js';
import { KAFKA_START_TIMEOUT_MS } from '../kafka/kafka.js';
import { kafkaTopicConfig } from '../kafka/kafka-topic-config.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

/** A look takes some ten milliseconds, on a machine that has nothing else to do. */
const PATIENCE_MS = 15_000;
const QUOTA = 'producer_byte_rate';

let brokers: readonly string[];
beforeAll(async () => {
  brokers = await sharedKafka();
}, KAFKA_START_TIMEOUT_MS);

const ends: (() => unknown)[] = [];
afterEach(() => Promise.all(ends.splice(0).map((end) => end())));

it('topics that are not there: they would be created, and are not', async () => {
  const name = newName();
  const { findings } = await lookAt(name);
  expect(about(findings, 'Kafka')).toMatchObject({ state: 'good' });
  for (const topic of [name, `${name}-registry`]) {
    expect(about(findings, `topic ${topic}`)).toMatchObject({
      state: 'noted',
      says: expect.stringContaining('creates it'),
    });
  }
  expect(about(findings, 'clocks')).toMatchObject({ state: 'skipped' });
  expect(findingsExitCode(findings)).toBe(0);
  expect(await withAdmin(brokers, (admin) => admin.listTopics())).not.toContain(name);
});

it('more copies than the cluster has brokers: it would not be created', async () => {
  const { findings, name } = await lookAt(newName(), { replicationFactor: 7 });
  expect(about(findings, `topic ${name}`)).toMatchObject({ state: 'wrong', code: 'TOPIC_SETTINGS' });
  expect(about(findings, `topic ${name}`)?.says).toContain('INVALID_REPLICATION_FACTOR');
  expect(findingsExitCode(findings)).toBe(78);
});

it('a topic as nodes need it, to which one has just written', async () => {
  const name = newName();
  const topic = new KafkaReportTopic(kafkaTopicConfig(brokers, { name, partitions: 2 }));
  ends.push(() => topic.close());
  await topic.open(new RecordingListener());
  await createTopic(brokers, `${name}-registry`, CREATED_WITH);
  await topic.append([{ partition: 0, key: 'a', value: Buffer.from('alive') }]);
  const { findings } = await lookAt(name);
  expect(about(findings, `topic ${name}`)).toMatchObject({
    state: 'good',
    says: expect.stringContaining('2 partitions'),
  });
  expect(about(findings, `topic ${name}`)?.says).toContain('we may read and write it');
  expect(about(findings, `topic ${name}-registry`)).toMatchObject({ state: 'good' });
  expect(about(findings, 'clocks')).toMatchObject({
    state: 'good',
    says: expect.stringContaining(brokers[0]),
  });
});

it('a client quota that throttles a node: who holds it back, and how to end that', async () => {
  const clientId = newName();
  const config = kafkaTopicConfig(brokers, { name: newName(), clientId });
  const admin = new ClientQuotaAdmin(config, () => undefined);
  const entity = [
    { type: 'user', name: null },
    { type: 'client-id', name: clientId },
  ];
  const quota = (value: number | null) => admin.alter([{ entity, changes: [{ key: QUOTA, value }] }], () => true);
  const look = async () => about((await lookAt(config.name, { clientId })).findings, 'client quotas');
  expect(await look()).toMatchObject({ state: 'good', says: `none holds for this node (client id ${clientId})` });
  expect(await quota(100)).toEqual([]);
  // A broker tells of a quota when it has read of it in the log of the controllers.
  const says = expect.stringContaining(`has its own: ${QUOTA}=100`);
  await expect.poll(look, { timeout: PATIENCE_MS / 3 }).toMatchObject({ state: 'good', says });
  const topic = new KafkaReportTopic(config);
  ends.push(async () => {
    await quota(null);
    await Promise.all([admin.close(), topic.close()]);
  });
  await topic.open(new RecordingListener());
  await topic.append([{ partition: 0, key: 'a', value: Buffer.alloc(4000) }]);
  expect(topic.throttled).toContain(
    `throttles client id ${clientId} by a client quota (${QUOTA} or request_percentage)`,
  );
  expect(topic.throttled).toContain(`--entity-type clients --entity-name ${clientId} --add-config`);
  expect(topic.counters.throttledMs).toBeGreaterThan(0);
});

it('records that others have signed with another key', async () => {
  const name = newName();
  const [own, other] = ['a', 'b'].map((key) => ({ hmac: { key: key.repeat(32) } }));
  const config = resolveConfig(
    { cluster: 'demo', topic: { kind: 'kafka', brokers, name, ...own } },
    { source: '', env: {} },
  );
  const topic = await createSigned(config, silentTelemetry);
  ends.push(() => topic.close());
  await topic.open(new RecordingListener());
  await topic.append([{ partition: 0, key: 'a', value: Buffer.from('signed') }]);
  expect(about((await lookAt(name, own)).findings, 'signatures')).toMatchObject({ state: 'good' });
  const { findings } = await lookAt(name, other);
  expect(about(findings, 'signatures')).toMatchObject({ state: 'wrong', code: 'TOPIC_KEY_DIFFERS' });
  expect(findingsExitCode(findings)).toBe(78);
});

it('records of a codec that Node.js 20 lacks, left by a setting that was put back: what to do', async () => {
  const config = kafkaTopicConfig(brokers, { name: newName() });
  const topic = new KafkaReportTopic(config);
  ends.push(() => topic.close());
  const listener = new RecordingListener();
  await topic.open(listener);
  expect(about((await lookAt(config.name)).findings, 'records')).toMatchObject({ state: 'good' });
  const set = (value: string) => {
    const settings = { ...CREATED_WITH, 'compression.type': value };
    const configEntries = Object.entries(settings).map(([setting, wanted]) => ({ name: setting, value: wanted }));
    const resources = [{ type: ConfigResourceTypes.TOPIC, name: config.name, configEntries }];
    return withAdmin(brokers, (admin) => admin.alterConfigs({ resources, validateOnly: false }));
  };
  const isKnown = 'zstdDecompressSync' in zlib;
  // The broker's answer may come after what it has written, which ends the connection; a setting is applied later still.
  const append = () => topic.append([{ partition: 0, key: 'a', value: Buffer.alloc(1000) }]).catch(() => undefined);
  const left = async () => {
    await set('zstd');
    await append();
    await set('producer');
    return about((await lookAt(config.name)).findings, 'records')?.state;
  };
  await expect.poll(left, { timeout: PATIENCE_MS }).toBe(isKnown ? 'good' : 'wrong');
  const found = about((await lookAt(config.name)).findings, 'records');
  if (isKnown) expect(found).toMatchObject({ state: 'good' });
  else {
    expect(found).toMatchObject({ state: 'wrong', code: 'TOPIC_CODEC_MISSING' });
    const last = () => listener.lost.at(-1);
    await expect.poll(last, { timeout: PATIENCE_MS }).toContain('delete the topic and restart one node');
  }
});

it('a topic with wrong settings, and a broker that is not there beside one that is', async () => {
  const name = newName();
  await createTopic(brokers, name, { 'cleanup.policy': 'delete', 'max.message.bytes': '5000' });
  const [nobody] = await freePorts(1);
  const { findings } = await lookAt(name, { brokers: [...brokers, `127.0.0.1:${nobody}`] });
  expect(about(findings, 'Kafka')).toMatchObject({
    state: 'noted',
    says: expect.stringContaining(`127.0.0.1:${nobody}`),
  });
  const found = about(findings, `topic ${name}`);
  expect(found).toMatchObject({ state: 'wrong', code: 'TOPIC_SETTINGS' });
  expect(found?.says).toContain('cleanup.policy is delete, wanted compact');
  expect(found?.says).toContain('max.message.bytes is 5000, wanted at least 1000000');
});

it("the windows of Kafka's client quotas, and exporters that are not there", async () => {
  const [nobody] = await freePorts(1);
  const { findings, name } = await lookAt(
    newName(),
    {},
    {
      kafkaQuotas: {
        exporters: [`http://127.0.0.1:${nobody}/metrics`],
        entities: [{ user: 'alice', group: 'orders' }],
      },
      groups: { orders: { quota: { publish: { bytesPerSecond: '1MiB' } } } },
    },
  );
  expect(about(findings, `topic ${name}-kafka-quotas`)).toMatchObject({ state: 'noted' });
  expect(about(findings, `exporter http://127.0.0.1:${nobody}/metrics`)).toMatchObject({ code: 'EXPORTER_UNREADABLE' });
  // Eleven windows of a second are what Kafka has where nobody says otherwise.
  expect(about(findings, 'windows of client quotas')).toMatchObject({ state: 'noted', code: 'KAFKA_QUOTA_WINDOWS' });
});

function newName(): string {
  return `doctor-${randomBytes(6).toString('hex')}`;
}

async function lookAt(name: string, topic: object = {}, more: object = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-doctor-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'node.yaml');
  const groups = { orders: { quota: { publish: { messagesPerSecond: 1000 } } } };
  const config = {
    cluster: 'demo',
    http: { port: 0 },
    topic: { kind: 'kafka', brokers, name, ...topic },
    groups,
    ...more,
  };
  writeFileSync(file, JSON.stringify(config));
  return { name, findings: await examine({ file, timeoutMs: PATIENCE_MS }) };
}

function about(findings: Awaited<ReturnType<typeof examine>>, what: string) {
  return findings.find((each) => each.about === what);
}
