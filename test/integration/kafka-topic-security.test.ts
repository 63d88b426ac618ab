import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { KafkaTopicConfig } from '../../src/config/resolved-config.js';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import type { KafkaTopicHooks } from '../../src/topic/kafka/kafka-topic-options.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { settled, within } from '../conformance/topic-expectations.js';
import { withAdmin } from '../kafka/admin.js';
import { KAFKA_START_TIMEOUT_MS, type Kafka, startKafka } from '../kafka/kafka.js';
import { kafkaTopicConfig } from '../kafka/kafka-topic-config.js';
import {
  certificateOf,
  makeKeyStore,
  PASSWORD,
  SCRAM_USERS,
  secureProperties,
  USERS,
  unsecuredToken,
} from '../kafka/secure-listener.js';

const DEADLINE_MS = 15_000;
const ALL_NEEDED = ['READ', 'WRITE', 'DESCRIBE_CONFIGS', 'CREATE'] as const;

let folder: string;
let ca: string;
let kafka: Kafka;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'quotamesh-tls-'));
  const properties = secureProperties(await makeKeyStore(folder));
  kafka = await startKafka({ properties, formatArguments: SCRAM_USERS });
  ca = await certificateOf(kafka.ports[0].spare);
}, KAFKA_START_TIMEOUT_MS);
afterAll(async () => {
  await kafka?.stop();
  await rm(folder, { recursive: true, force: true });
});

const opened: KafkaReportTopic[] = [];
afterEach(() => Promise.all(opened.splice(0).map((topic) => topic.close())));

function make(overrides: Partial<KafkaTopicConfig>, hooks: KafkaTopicHooks = {}) {
  const brokers = [`127.0.0.1:${kafka.ports[0].spare}`];
  const config = kafkaTopicConfig(brokers, { tls: { ca }, ...overrides });
  const topic = new KafkaReportTopic(config, hooks);
  opened.push(topic);
  return { topic, listener: new RecordingListener(), name: config.name };
}

function credentials(mechanism: keyof typeof USERS, password = PASSWORD) {
  return { mechanism, username: USERS[mechanism], password };
}

describe('with all permissions', () => {
  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)('works over TLS with %s', async (mechanism) => {
    const { topic, listener, name } = make({ sasl: credentials(mechanism) });
    await permit(USERS[mechanism], name, ALL_NEEDED);
    await expectToWork(topic, listener);
  });

  it('works with tokens from a callback', async () => {
    const oauthBearerProvider = async () => ({ value: unsecuredToken('dave') });
    const { topic, listener, name } = make({ sasl: { mechanism: 'oauthbearer' } }, { oauthBearerProvider });
    await permit('dave', name, ALL_NEEDED);
    await expectToWork(topic, listener);
  });
});

describe('without a permission', () => {
  it.each([
    { what: 'any', operations: [] },
    { what: 'creating', operations: ['READ', 'WRITE', 'DESCRIBE_CONFIGS'] },
    { what: 'describing the configuration', operations: ['READ', 'WRITE', 'CREATE'] },
  ] as const)('refuses to open: $what', async ({ operations }) => {
    const { topic, listener, name } = make({ sasl: credentials('plain') });
    await permit(USERS.plain, name, operations);
    expect(await within(DEADLINE_MS, 'open', () => settled(topic.open(listener)))).toBe('TOPIC_DENIED');
  });

  it('refuses to open with a wrong password', async () => {
    const { topic, listener } = make({ sasl: credentials('scram-sha-256', 'wrong') });
    expect(await within(DEADLINE_MS, 'open', () => settled(topic.open(listener)))).toBe('TOPIC_DENIED');
  });

  it('stays pending where the certificate is not trusted, and says why', async () => {
    const { topic, listener } = make({ sasl: credentials('plain'), tls: true });
    const opening = settled(topic.open(listener));
    await listener.until('lost', () => listener.lost.length === 1, DEADLINE_MS);
    expect(listener.lost[0]).toMatch(/self-signed certificate/);
    await topic.close();
    expect(await opening).toBe('TOPIC_CLOSED');
  });

  it('says so when permissions are withdrawn, and works again when they are given back', async () => {
    const { topic, listener, name } = make({ sasl: credentials('plain') });
    await permit(USERS.plain, name, ALL_NEEDED);
    await expectToWork(topic, listener);
    await withdraw(name);
    await listener.until('failed', () => listener.failures.length === 1, DEADLINE_MS);
    expect(listener.failures[0]).toMatchObject({ code: 'TOPIC_DENIED' });
    expect(listener.lost).toHaveLength(1);
    await permit(USERS.plain, name, ALL_NEEDED);
    await listener.until('recovered', () => listener.recovered === 1, DEADLINE_MS);
    expect(listener.failures).toHaveLength(1);
  });

  it('says once that it may not write any more, reads on, and works again when it may', async () => {
    const { topic, listener, name } = make({ sasl: credentials('plain') });
    await permit(USERS.plain, name, ALL_NEEDED);
    await expectToWork(topic, listener);
    await withdraw(name, 'WRITE');
    const record = { partition: 0, key: 'key', value: null };
    const append = () => settled(topic.append([record]));
    // Kafka takes a moment to apply a change of permissions, in either direction.
    await repeatUntil(append, 'TOPIC_DENIED');
    for (let i = 0; i < 5; i++) expect(await append()).toBe('TOPIC_DENIED');
    expect(listener.lost).toHaveLength(1);
    expect(listener.failures).toHaveLength(1);
    await permit(USERS.plain, name, ['WRITE']);
    await repeatUntil(append, 'done');
    expect(listener).toMatchObject({ recovered: 1 });
    expect(listener.failures).toHaveLength(1);
  });
});

async function expectToWork(topic: KafkaReportTopic, listener: RecordingListener): Promise<void> {
  await within(DEADLINE_MS, 'open', () => topic.open(listener));
  await topic.append([{ partition: 0, key: 'key', value: Buffer.from('value') }]);
  await listener.until('the record', () => listener.has('key'), DEADLINE_MS);
}

async function permit(user: string, topic: string, operations: readonly (keyof typeof AclOperationTypes)[]) {
  if (operations.length === 0) return;
  const acl = operations.map((operation) => ({
    ...aclOf(topic),
    resourcePatternType: ResourcePatternTypes.LITERAL,
    principal: `User:${user}`,
    host: '*',
    operation: AclOperationTypes[operation],
    permissionType: AclPermissionTypes.ALLOW,
  }));
  await withAdmin(kafka.brokers, (admin) => admin.createAcls({ acl }));
}

async function repeatUntil(append: () => Promise<string>, outcome: string): Promise<void> {
  const givenUpAt = performance.now() + DEADLINE_MS;
  while ((await append()) !== outcome) {
    if (performance.now() > givenUpAt) throw new Error(`never ${outcome}`);
    await sleep(20);
  }
}

async function withdraw(topic: string, operation: keyof typeof AclOperationTypes = 'ANY') {
  const filter = {
    ...aclOf(topic),
    resourcePatternType: ResourcePatternTypes.LITERAL,
    operation: AclOperationTypes[operation],
    permissionType: AclPermissionTypes.ANY,
  };
  await withAdmin(kafka.brokers, (admin) => admin.deleteAcls({ filters: [filter] }));
}

function aclOf(topic: string) {
  return { resourceType: AclResourceTypes.TOPIC, resourceName: topic };
}
