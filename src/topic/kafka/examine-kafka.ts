import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ExaminedTopic, Finding, Visit } from '../../config/setting/topic-kind.js';
import { good, looked, noted, skipped, wrong } from '../findings/finding.js';
import { reasonOf } from '../remote/topic-unusable.js';
import { type BrokerAddress, BrokerLink, nameOf } from './broker-link.js';
import { ClientQuotaAdmin } from './client-quota-admin.js';
import { type KafkaTopicOptions, kafkaTopicOptions, tokensOf } from './kafka-topic-options.js';
import { type Kafkajs, loadKafkajs } from './kafkajs-internals.js';
import { type KafkaTopicConfig, kafkaNameOf } from './kind.js';
import { METADATA_WITH_ID_VERSION, metadataWithId } from './metadata-10.js';
import { rightsMissing } from './missing-rights.js';
import { clientText, heldQuotas, ownQuotaCommand, quotaClientOf } from './own-quota.js';
import { aclMissing, kafkaUnusable } from './topic-failure.js';
import { fetchTopicMetadata } from './topic-metadata.js';
import { createKafkaTopic, verifyTopic, type WantedTopic } from './topic-preparation.js';

type Found = Promise<readonly Finding[]>;

/** Examines brokers, topics, clocks, and the quotas that hold for a node. */
export async function examineKafka(topic: KafkaTopicConfig, { logs, timeoutMs }: Visit): Promise<ExaminedTopic> {
  const visit = new KafkaVisit(topic, timeoutMs);
  try {
    const seeds = await Promise.all(visit.options.brokers.map((address) => reach(visit, address)));
    const [first] = seeds.flatMap(({ address, link }) => (link === null ? [] : [{ address, link }]));
    const topics = logs.map((log) => ({ log, name: kafkaNameOf(topic, log) }));
    if (first === undefined) {
      const others = topics.map(({ name }) => skipped(`topic ${name}`, 'not looked at: no broker answers'));
      const findings = [wrong('Kafka', unreachable(visit, seeds)), ...others];
      return { findings, isAnswered: false, hasReports: false };
    }
    const brokers = await looked('Kafka', timeoutMs, () => brokerFindings(visit, seeds, first.link));
    const found = topics.map(({ log, name }) => {
      const strict = log === 'strict' ? { acceptsSingle: topic.acceptSingleReplica } : null;
      const wanted = { ...visit.options, topic: name, keepsForever: log !== 'reports', strict };
      const partitions = log === 'reports' ? wanted.partitions : 1;
      return looked(`topic ${name}`, timeoutMs, () => topicFinding(visit, first.address, { ...wanted, partitions }));
    });
    const clock = looked(ABOUT_CLOCKS, timeoutMs, () => clockFinding(visit, first.address, topic.name));
    const own = looked(ABOUT_QUOTAS, timeoutMs, () => ownQuotaFinding(topic, timeoutMs));
    const findings = [...brokers, ...(await Promise.all([...found, clock, own])).flat()];
    const ofReports = findings.filter(({ about }) => about === `topic ${topic.name}`);
    return { findings, isAnswered: true, hasReports: ofReports.some(({ state }) => state === 'good') };
  } finally {
    visit.close();
  }
}

interface Reached {
  readonly address: BrokerAddress;
  /** Null = no answer, or no access. */
  readonly link: BrokerLink | null;
  readonly failure: unknown;
}

async function reach(visit: KafkaVisit, address: BrokerAddress): Promise<Reached> {
  try {
    return { address, link: await visit.open(address), failure: null };
  } catch (failure) {
    return { address, link: null, failure };
  }
}

function unreachable({ options }: KafkaVisit, seeds: readonly Reached[]): QuotameshError {
  const refused = seeds.map(({ failure }) => kafkaUnusable(failure, options, 'any')).find((each) => each !== null);
  const reason = seeds.map(failureText).join('; ');
  return refused ?? new QuotameshError('TOPIC_UNREACHABLE', { topic: options.topic, reason });
}

/** Examines brokers: nodes begin at any, then use the partitions' leaders. */
async function brokerFindings(visit: KafkaVisit, seeds: readonly Reached[], link: BrokerLink): Found {
  const silent = seeds.filter(({ link: open }) => open === null).map(failureText);
  const known = new Set(seeds.map(({ address }) => nameOf(address)));
  const all = link.serves('Metadata', METADATA_WITH_ID_VERSION)
    ? (await link.exchange(metadataWithId(visit.options.topic))).brokers
    : [];
  const others = await Promise.all(all.filter((each) => !known.has(nameOf(each))).map((each) => reach(visit, each)));
  const lost = others.filter(({ link: open }) => open === null);
  const reached = [...seeds, ...others].map(({ address }) => nameOf(address));
  return [
    ...(silent.length > 0 ? [noted('Kafka', `nodes begin elsewhere, but ${silent.join('; ')}`)] : []),
    ...lost.map(({ address, failure }) =>
      wrong('Kafka', new QuotameshError('BROKER_UNREACHABLE', { broker: nameOf(address), reason: reasonOf(failure) })),
    ),
    ...(lost.length + silent.length > 0 ? [] : [good('Kafka', `${reached.join(', ')} can be reached`)]),
  ];
}

function failureText({ address, failure }: Reached): string {
  return `${nameOf(address)}: ${reasonOf(failure)}`;
}

const ABOUT_CLOCKS = 'clocks';
/** Milliseconds between a good clock and a slow answer. */
const AHEAD_MS = 2000;
/** Milliseconds; nodes write once a second. */
const RECENT_MS = 5000;
const PARTITION = 0;

async function clockFinding(visit: KafkaVisit, address: BrokerAddress, topic: string): Promise<Finding> {
  const { exists, leaders } = await fetchTopicMetadata(visit.kafkajs, await visit.open(address), topic);
  const leader = leaders[PARTITION] ?? null;
  if (!exists || leader === null)
    return skipped(ABOUT_CLOCKS, 'not compared: Kafka tells its time by records, and there are none');
  const link = await visit.open(leader);
  const nowMs = Date.now();
  const broker = nameOf(leader);
  const aheadMs = await stampSince(link, topic, nowMs + AHEAD_MS);
  if (aheadMs !== null) {
    return noted(ABOUT_CLOCKS, new QuotameshError('CLOCK_BEHIND', { behindMs: Math.round(aheadMs - nowMs), broker }));
  }
  if ((await stampSince(link, topic, nowMs - RECENT_MS)) === null) {
    const why = `nobody has written to ${topic} in the last ${RECENT_MS / 1000} s by the clock of this machine`;
    return skipped(ABOUT_CLOCKS, `not compared: ${why}, and Kafka tells its time by records`);
  }
  return good(ABOUT_CLOCKS, `this machine and broker ${broker} agree to within ${RECENT_MS / 1000} s`);
}

/** Returns the first record's stamp since then; null = none. */
async function stampSince(link: BrokerLink, topic: string, sinceMs: number): Promise<number | null> {
  const topics = [{ topic, partitions: [{ partition: PARTITION, timestamp: sinceMs }] }];
  const answer = await link.send<StampsAnswer>('ListOffsets', { isolationLevel: 0, topics });
  const stamp = Number(answer.responses[0]?.partitions[0]?.timestamp ?? NONE);
  return stamp === NONE ? null : stamp;
}

const NONE = -1;

interface StampsAnswer {
  readonly responses: readonly { readonly partitions: readonly { readonly timestamp?: string }[] }[];
}

const ABOUT_QUOTAS = 'client quotas';

/** Makes an admin that waits no longer than the visit. */
export function quotaAdmin(topic: KafkaTopicConfig, timeoutMs: number): ClientQuotaAdmin {
  const connectionTimeoutMs = Math.min(topic.connectionTimeoutMs, timeoutMs);
  return new ClientQuotaAdmin({ ...topic, connectionTimeoutMs }, unheard);
}

/** Checks Kafka's quotas for this node; everybody's isolate it under load. */
async function ownQuotaFinding(topic: KafkaTopicConfig, timeoutMs: number): Promise<Finding> {
  const admin = quotaAdmin(topic, timeoutMs);
  const client = quotaClientOf(topic.clientId, topic.sasl, topic.tls);
  const who = clientText(client);
  try {
    const held = heldQuotas(client, await admin.describe());
    if (held.length === 0) return good(ABOUT_QUOTAS, `none holds for this node (${who})`);
    const quotas = held.map(({ key, value }) => `${key}=${value}`).join(', ');
    if (!held.some(({ isDefault }) => isDefault))
      return good(ABOUT_QUOTAS, `this node (${who}) has its own: ${quotas}`);
    const command = ownQuotaCommand(client, topic.brokers[0] ?? '<broker>');
    return noted(ABOUT_QUOTAS, new QuotameshError('KAFKA_QUOTA_HOLDS', { client: who, quotas, command }));
  } catch (error) {
    return skipped(ABOUT_QUOTAS, `not looked at: ${(error as Error).message}`);
  } finally {
    await admin.close();
  }
}

/** Checks a topic: existence, leaders, settings, rights. Throws what a node would. */
async function topicFinding(visit: KafkaVisit, address: BrokerAddress, wanted: WantedTopic): Promise<Finding> {
  const about = `topic ${wanted.topic}`;
  const link = await visit.open(address);
  const { exists, leaders, controller } = await named(wanted, 'any', () =>
    fetchTopicMetadata(visit.kafkajs, link, wanted.topic),
  );
  if (!exists) {
    await named(wanted, 'Create', async () => {
      await createKafkaTopic(visit.kafkajs, await visit.open(controller), wanted, { onlyAsks: true });
    });
    return noted(about, 'is not there yet: the first node creates it, and Kafka would let us');
  }
  const missing = await rightsMissing(link, wanted.topic);
  if (missing !== null && missing.length > 0) throw aclMissing(missing, wanted);
  await named(wanted, 'DescribeConfigs', () => verifyTopic(visit.kafkajs, link, wanted, leaders.length));
  const withoutLeader = leaders.indexOf(null);
  if (withoutLeader !== -1) {
    const reason = `partition ${withoutLeader} has no leader`;
    throw new QuotameshError('TOPIC_UNREACHABLE', { topic: wanted.topic, reason });
  }
  const may = missing === null ? 'what we may do there is told by Kafka 2.8 or newer' : 'we may read and write it';
  const count = `${leaders.length} partition${leaders.length === 1 ? '' : 's'}`;
  return good(about, `${count}, settings as nodes need them; ${may}`);
}

/** Names a refusal as a node does. */
async function named<T>(
  wanted: WantedTopic,
  operation: Parameters<typeof kafkaUnusable>[2],
  look: () => Promise<T>,
): Promise<T> {
  try {
    return await look();
  } catch (error) {
    const { message } = error as Error;
    throw (
      kafkaUnusable(error, wanted, operation) ??
      new QuotameshError('TOPIC_UNREACHABLE', { topic: wanted.topic, reason: message })
    );
  }
}

/** Holds connections to a Kafka for one visit, made like a node's. */
class KafkaVisit {
  readonly kafkajs: Kafkajs = loadKafkajs();
  readonly options: KafkaTopicOptions;
  readonly #tokens: ReturnType<typeof tokensOf>;
  readonly #links: BrokerLink[] = [];

  constructor(config: KafkaTopicConfig, timeoutMs: number) {
    const patient = {
      ...config,
      connectionTimeoutMs: Math.min(config.connectionTimeoutMs, timeoutMs),
      requestTimeoutMs: Math.min(config.requestTimeoutMs, timeoutMs),
    };
    const tokens = tokensOf(patient, unheard);
    this.#tokens = tokens;
    this.options = kafkaTopicOptions(patient, { log: unheard }, tokens && (() => tokens.token()));
  }

  /** Opens a link. Rejects without the broker, or its permission. */
  async open(address: BrokerAddress): Promise<BrokerLink> {
    const link = new BrokerLink(this.kafkajs, address, this.options, unheard);
    this.#links.push(link);
    await link.connect();
    return link;
  }

  close(): void {
    for (const link of this.#links) link.destroy(new Error('seen'));
    this.#tokens?.close();
  }
}

function unheard(): void {}
