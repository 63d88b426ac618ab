import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { examine } from '../../src/tools/doctor/examine.js';
import { aclCommand, NEEDED_ACLS } from '../../src/topic/kafka/needed-acls.js';
import { CREATED_WITH } from '../../src/topic/kafka/topic-settings.js';
import { within } from '../conformance/topic-expectations.js';
import { aclsOf } from '../kafka/acls.js';
import { createTopic } from '../kafka/admin.js';
import { PASSWORD, USERS } from '../kafka/secure-listener.js';
import { prepareWholeNode, type WholeNode } from '../whole-node.js';
import { BY_TEST } from './changed-by.js';

const DEADLINE_MS = 20_000;
const ALL = NEEDED_ACLS.map(({ operation }) => operation);
const WITHOUT_CREATION = NEEDED_ACLS.filter((acl) => !acl.onlyToCreate).map(({ operation }) => operation);
const USER = USERS.plain;

export interface SecuredKafka {
  /** For the super user. */
  readonly brokers: readonly string[];
  /** Where users must prove who they are. */
  readonly secure: string;
  readonly ca: string;
}

/** A node works with the ACLs of the table and nothing more, and names each one that is missing. */
export function aclTests(kafka: () => SecuredKafka): void {
  const { permit } = aclsOf(() => kafka().brokers);

  function prepare(): { name: string; topics: readonly string[]; node: Promise<WholeNode> } {
    const name = `acl-${randomBytes(6).toString('hex')}`;
    const { secure, ca } = kafka();
    const sasl = { mechanism: 'plain', username: USER, password: PASSWORD };
    // Signatures need no right; so they are seen on a real Kafka too.
    const hmac = { key: 'k'.repeat(32) };
    const topic = { kind: 'kafka', brokers: [secure], name, tls: { ca }, sasl, hmac, replicationFactor: 1 };
    const groups = { orders: { quota: { publish: { messagesPerSecond: 100 } } } };
    const node = prepareWholeNode({ config: { cluster: 'acl', node: 'n', topic, groups }, env: {} });
    return { name, topics: [name, `${name}-registry`], node };
  }

  async function expectToWork(node: WholeNode): Promise<void> {
    await within(DEADLINE_MS, 'ready', () => Promise.all([node.start(), node.ready(DEADLINE_MS)]));
    const definition = { quota: { publish: { messagesPerSecond: 5 } } };
    const made = await within(DEADLINE_MS, 'a group', async () =>
      node.registry?.propose('made', 0, definition, BY_TEST),
    );
    expect(made).toMatchObject({ accepted: true });
    expect((await node.acquire('orders', { messages: 1 }, { waitMs: DEADLINE_MS })).granted).toBe(true);
    expect(node.status().degraded).toEqual([]);
    for (const { verified, unverifiedKeys } of node.status().signatures) {
      expect(verified.key).toBeGreaterThan(0);
      expect(unverifiedKeys).toBe(0);
    }
    expect(node.status().signatures).toHaveLength(2);
  }

  it.each([
    { what: 'and creates both topics', operations: ALL, isThere: false },
    { what: 'on topics that are there, without Create', operations: WITHOUT_CREATION, isThere: true },
  ])('works $what', async ({ operations, isThere }) => {
    const { topics, node } = prepare();
    for (const topic of topics) {
      if (isThere) await createTopic(kafka().brokers, topic, CREATED_WITH);
      await permit(USER, topic, operations);
    }
    try {
      await expectToWork(await node);
    } finally {
      await (await node).close();
    }
  });

  it('the doctor names all that are missing on a topic at once, and changes nothing', async () => {
    const name = `acl-${randomBytes(6).toString('hex')}`;
    const { secure, ca, brokers } = kafka();
    await createTopic(brokers, name, CREATED_WITH);
    await permit(USER, name, ['Read']);
    const folder = await mkdtemp(join(tmpdir(), 'quotamesh-acl-'));
    const file = join(folder, 'node.yaml');
    const sasl = { mechanism: 'plain', username: USER, password: PASSWORD };
    const topic = { kind: 'kafka', brokers: [secure], name, tls: { ca }, sasl };
    await writeFile(file, JSON.stringify({ cluster: 'acl', http: { port: 0 }, topic, groups: {} }));
    const findings = await examine({ file, timeoutMs: DEADLINE_MS });
    await rm(folder, { recursive: true });
    const grantee = { principal: `User:${USER}`, bootstrapServer: secure };
    expect(findings.find(({ about }) => about === `topic ${name}`)).toMatchObject({
      state: 'wrong',
      code: 'TOPIC_ACL_MISSING',
      remedy: expect.stringContaining(aclCommand(['Write', 'DescribeConfigs'], [name], grantee)),
    });
    // Kafka hides whether a topic is there from users without a right to it.
    expect(findings.find(({ about }) => about === `topic ${name}-registry`)).toMatchObject({
      code: 'TOPIC_ACL_MISSING',
    });
  });

  it('names each one that is missing, on each topic, and the command that grants it', async () => {
    const cases = NEEDED_ACLS.flatMap(({ operation }) => [0, 1].map((at) => ({ operation, at })));
    const said = await Promise.all(
      cases.map(async ({ operation, at }) => {
        const { topics, node: preparing } = prepare();
        for (const [other, topic] of topics.entries()) {
          await permit(
            USER,
            topic,
            ALL.filter((each) => other !== at || each !== operation),
          );
        }
        const node = await preparing;
        const topic = topics[at];
        try {
          const { message, remedy } = await failureOf(node);
          const grantee = { principal: `User:${USER}`, bootstrapServer: kafka().secure };
          if (remedy !== null) expect(remedy).toContain(aclCommand([operation], [topic], grantee));
          return message.includes(`ACL ${operation} on topic ${topic} is missing`) ? 'named' : message;
        } finally {
          await node.close();
        }
      }),
    );
    expect(said).toEqual(cases.map(() => 'named'));
  });
}

/** Why the node did not start; or, where it could open its topics, why it is not ready. */
async function failureOf(node: WholeNode): Promise<{ message: string; remedy: string | null }> {
  let failure: { message: string; remedy: string | null } | null = null;
  node.start().catch((error: { message: string; remedy: string }) => {
    failure = error;
  });
  return within(DEADLINE_MS, 'a reason', async () => {
    for (;;) {
      const lost = node.status().notReadyBecause.find((reason) => reason.includes(': ACL '));
      if (failure !== null) return failure;
      if (lost !== undefined) return { message: lost, remedy: null };
      await sleep(20);
    }
  });
}
