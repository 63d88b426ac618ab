import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { KafkaReportTopic } from '../../src/topic/kafka/kafka-report-topic.js';
import type { KafkaTopicConfig } from '../../src/topic/kafka/kind.js';
import { RecordingListener } from '../conformance/recording-listener.js';
import { settled, within } from '../conformance/topic-expectations.js';
import { aclsOf } from '../kafka/acls.js';
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
import { startTokenServer } from '../kafka/token-server.js';
import { aclTests } from './kafka-acl-tests.js';

const DEADLINE_MS = 15_000;
/** Milliseconds in which a node that has lost its topic tries more than once to come back. */
const SOME_ATTEMPTS_MS = 1_500;
const ALL_BUT_CREATE = 'Read, Write, DescribeConfigs';
const ALL_NEEDED = ['Read', 'Write', 'DescribeConfigs', 'Create'] as const;

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

const { permit, withdraw } = aclsOf(() => kafka.brokers);

function make(overrides: Partial<KafkaTopicConfig>) {
  const brokers = [`127.0.0.1:${kafka.ports[0].spare}`];
  const config = kafkaTopicConfig(brokers, { tls: { ca }, ...overrides });
  const topic = new KafkaReportTopic(config);
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

  it('works with tokens of an endpoint, and with those of a file that is written anew', async () => {
    const server = await startTokenServer();
    const tokenFile = join(folder, 'token');
    await writeFile(tokenFile, unsecuredToken('dave'));
    const client = { clientId: server.clientId, clientSecret: server.clientSecret };
    for (const sasl of [{ tokenEndpoint: server.url, ...client, scope: 'kafka' }, { tokenFile }]) {
      const { topic, listener, name } = make({ sasl: { mechanism: 'oauthbearer', ...sasl } });
      await permit('dave', name, ALL_NEEDED);
      await expectToWork(topic, listener);
    }
    expect(server.asked).toEqual([{ grant_type: 'client_credentials', scope: 'kafka' }]);
    await server.stop();
  });
});

describe('without a token', () => {
  const refused = { mechanism: 'oauthbearer', clientId: 'node', clientSecret: 'wrong' };

  it('refuses to open where the endpoint says no, with its reason', async () => {
    const server = await startTokenServer();
    const { topic, listener } = make({ sasl: { ...refused, tokenEndpoint: server.url } });
    await expect(within(DEADLINE_MS, 'open', () => topic.open(listener))).rejects.toMatchObject({
      code: 'TOKEN_REFUSED',
      message: expect.stringContaining('status 401, invalid_client: who are you'),
    });
    await server.stop();
  });

  it('stays pending where the file is missing, and works as soon as it is there', async () => {
    const tokenFile = join(folder, 'later');
    const { topic, listener, name } = make({ sasl: { mechanism: 'oauthbearer', tokenFile } });
    await permit('dave', name, ALL_NEEDED);
    const opening = topic.open(listener);
    await listener.until('lost', () => listener.lost.length === 1, DEADLINE_MS);
    expect(listener.lost[0]).toContain(`no token from ${tokenFile}: ENOENT`);
    await writeFile(tokenFile, unsecuredToken('dave'));
    await within(DEADLINE_MS, 'open', () => opening);
  });

  it('refuses to open with a token that has expired', async () => {
    const tokenFile = join(folder, 'expired');
    await writeFile(tokenFile, unsecuredToken('dave', -600));
    const { topic, listener } = make({ sasl: { mechanism: 'oauthbearer', tokenFile } });
    await expect(within(DEADLINE_MS, 'open', () => topic.open(listener))).rejects.toMatchObject({
      code: 'TOPIC_DENIED',
      message: expect.stringContaining('Kafka refuses the token: {"status":"invalid_token"}'),
    });
  });
});

describe('without a permission', () => {
  it.each([
    { what: 'any', operations: [], missing: 'Read, Write, DescribeConfigs' },
    { what: 'creating', operations: ['Read', 'Write', 'DescribeConfigs'], missing: 'Create' },
    { what: 'describing', operations: ['Read', 'Write', 'Create'], missing: 'DescribeConfigs' },
  ] as const)('refuses to open: $what', async ({ operations, missing }) => {
    const { topic, listener, name } = make({ sasl: credentials('plain') });
    await permit(USERS.plain, name, operations);
    await expect(within(DEADLINE_MS, 'open', () => topic.open(listener))).rejects.toMatchObject({
      code: 'TOPIC_ACL_MISSING',
      message: expect.stringContaining(`ACL ${missing} on topic ${name} is missing`),
    });
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
    // Reading notices, and asks for what else is gone.
    for (const operation of ['DescribeConfigs', 'Write', 'Read'] as const) await withdraw(name, operation);
    await listener.until('failed', () => listener.failures.length > 0, DEADLINE_MS);
    expect(listener.failures).toMatchObject([{ code: 'TOPIC_ACL_MISSING', facts: { operation: ALL_BUT_CREATE } }]);
    await sleep(SOME_ATTEMPTS_MS);
    // With Write the topic is shown again, and only its fetches are refused.
    await permit(USERS.plain, name, ['Write']);
    await sleep(SOME_ATTEMPTS_MS);
    expect(listener.recovered).toBe(0);
    await permit(USERS.plain, name, ['DescribeConfigs', 'Read']);
    await listener.until('recovered', () => listener.recovered === 1, DEADLINE_MS);
    expect(listener.lost).toHaveLength(1);
    expect(listener.failures).toHaveLength(1);
  });

  it('says once that it may not write any more, reads on, and works again when it may', async () => {
    const { topic, listener, name } = make({ sasl: credentials('plain') });
    await permit(USERS.plain, name, ALL_NEEDED);
    await expectToWork(topic, listener);
    await withdraw(name, 'Write');
    const record = { partition: 0, key: 'key', value: null };
    const append = () => settled(topic.append([record]));
    // Kafka takes a moment to apply a change of permissions, in either direction.
    await repeatUntil(append, 'TOPIC_ACL_MISSING');
    for (let i = 0; i < 5; i++) expect(await append()).toBe('TOPIC_ACL_MISSING');
    expect(listener.lost).toHaveLength(1);
    expect(listener.failures).toHaveLength(1);
    await permit(USERS.plain, name, ['Write']);
    await repeatUntil(append, 'done');
    expect(listener).toMatchObject({ recovered: 1 });
    expect(listener.failures).toHaveLength(1);
  });
});

describe('a node with the ACLs of the table', () => {
  aclTests(() => ({ brokers: kafka.brokers, secure: `127.0.0.1:${kafka.ports[0].spare}`, ca }));
});

async function expectToWork(topic: KafkaReportTopic, listener: RecordingListener): Promise<void> {
  await within(DEADLINE_MS, 'open', () => topic.open(listener));
  await topic.append([{ partition: 0, key: 'key', value: Buffer.from('value') }]);
  await listener.until('the record', () => listener.has('key'), DEADLINE_MS);
}

async function repeatUntil(append: () => Promise<string>, outcome: string): Promise<void> {
  const givenUpAt = performance.now() + DEADLINE_MS;
  while ((await append()) !== outcome) {
    if (performance.now() > givenUpAt) throw new Error(`never ${outcome}`);
    await sleep(20);
  }
}
