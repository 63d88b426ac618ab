import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { Log } from '../../config/setting/topic-kind.js';
import { KeyPattern } from '../../core/account/keys/key-pattern.js';
import { bytesOf } from '../../doors/kafka-quotas/entity-parts.js';
import { readExporter } from '../../doors/kafka-quotas/exporter-page.js';
import { markersOf } from '../../doors/kafka-quotas/quota-keeper.js';
import { roughnessOf, troubleOfConsumers } from '../../doors/kafka-quotas/window-roughness.js';
import { type BrokerAddress, BrokerLink, nameOf } from '../../topic/kafka/broker-link.js';
import { ClientQuotaAdmin } from '../../topic/kafka/client-quota-admin.js';
import { type KafkaTopicOptions, kafkaTopicOptions, tokensOf } from '../../topic/kafka/kafka-topic-options.js';
import { type Kafkajs, loadKafkajs } from '../../topic/kafka/kafkajs-internals.js';
import { type KafkaTopicConfig, kafkaNameOf } from '../../topic/kafka/kind.js';
import { METADATA_WITH_ID_VERSION, metadataWithId } from '../../topic/kafka/metadata-10.js';
import { missingAcls } from '../../topic/kafka/needed-acls.js';
import { clientText, heldQuotas, ownQuotaCommand, quotaClientOf } from '../../topic/kafka/own-quota.js';
import { aclMissing, kafkaUnusable } from '../../topic/kafka/topic-failure.js';
import { fetchTopicMetadata } from '../../topic/kafka/topic-metadata.js';
import { createKafkaTopic, verifyTopic, type WantedTopic } from '../../topic/kafka/topic-preparation.js';
import { reasonOf } from '../../topic/remote/topic-unusable.js';
import { type Finding, good, looked, noted, skipped, wrong } from './finding.js';

type Found = Promise<readonly Finding[]>;

/** Examines brokers, topics, and what depends on both. */
export async function kafkaFindings(config: ResolvedConfig, topic: KafkaTopicConfig, timeoutMs: number): Found {
  const visit = new KafkaVisit(topic, timeoutMs);
  try {
    const seeds = await Promise.all(visit.options.brokers.map((address) => reach(visit, address)));
    const [first] = seeds.flatMap(({ address, link }) => (link === null ? [] : [{ address, link }]));
    const topics = logsOf(config).map((log) => ({ log, name: kafkaNameOf(topic, log) }));
    if (first === undefined) {
      const others = topics.map(({ name }) => skipped(`topic ${name}`, 'not looked at: no broker answers'));
      return [wrong('Kafka', unreachable(visit, seeds)), ...others];
    }
    const brokers = await looked('Kafka', timeoutMs, () => brokerFindings(visit, seeds, first.link));
    const found = topics.map(({ log, name }) => {
      const wanted = { ...visit.options, topic: name, keepsForever: log !== 'reports' };
      const partitions = log === 'reports' ? wanted.partitions : 1;
      return looked(`topic ${name}`, timeoutMs, () => topicFinding(visit, first.address, { ...wanted, partitions }));
    });
    const clock = looked(ABOUT_CLOCKS, timeoutMs, () => clockFinding(visit, first.address, topic.name));
    const own = looked(ABOUT_QUOTAS, timeoutMs, () => ownQuotaFinding(topic, timeoutMs));
    const quotas = quotaFindings(config, topic, timeoutMs);
    return [...brokers, ...(await Promise.all([...found, clock, own, quotas])).flat()];
  } finally {
    visit.close();
  }
}

function logsOf({ registry, kafkaQuotas }: ResolvedConfig): readonly Log[] {
  return [
    'reports',
    ...(registry.enabled ? (['registry'] as const) : []),
    ...(kafkaQuotas.entities.length > 0 ? (['kafka-quotas'] as const) : []),
  ];
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
const ABOUT_WINDOWS = 'windows of client quotas';

function quotaAdmin(topic: KafkaTopicConfig, timeoutMs: number): ClientQuotaAdmin {
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

/** Checks the needs of `quotamesh kafka-quotas`: exporters' pages, rights on quotas, smoothing windows. */
async function quotaFindings(config: ResolvedConfig, topic: KafkaTopicConfig, timeoutMs: number): Found {
  const { kafkaQuotas } = config;
  if (kafkaQuotas.entities.length === 0) return [];
  const pages = kafkaQuotas.exporters.map((exporter) => {
    const about = `exporter ${exporter}`;
    return looked(about, timeoutMs, async () => {
      const { problem } = await readExporter(exporter, { ...kafkaQuotas, timeoutMs });
      if (problem === null) return good(about, 'its page can be read');
      return wrong(about, new QuotameshError('EXPORTER_UNREADABLE', { exporter, reason: problem }));
    });
  });
  const windows = looked(ABOUT_WINDOWS, timeoutMs, () => windowFindings(topic, timeoutMs, keepsConsumers(config)));
  return (await Promise.all([...pages, windows])).flat();
}

function keepsConsumers({ kafkaQuotas, groups, keys }: ResolvedConfig): boolean {
  // The configuration has been checked, its patterns too.
  const isOf = (pattern: string, name: string) => (KeyPattern.of(pattern) as KeyPattern).matches(name);
  const templateOf = (name: string) => keys.templates.find(({ pattern }) => isOf(pattern, name));
  const quotaOf = (name: string) => {
    const group = groups.find((each) => each.name === name) ?? templateOf(name)?.group;
    return group === undefined ? null : bytesOf(group);
  };
  return markersOf(kafkaQuotas.entities, quotaOf).some(({ name }) => name === 'consumer_byte_rate');
}

async function windowFindings(topic: KafkaTopicConfig, timeoutMs: number, hasConsumers: boolean): Found {
  const admin = quotaAdmin(topic, timeoutMs);
  try {
    // Unused answer: who may not see quotas may not write them either.
    await admin.describe();
    const found = await admin.windows();
    const rough = found.flatMap(({ broker, windows, windowSeconds }) => {
      const text = roughnessOf(windows, windowSeconds);
      return text === null ? [] : [new QuotameshError('KAFKA_QUOTAS_ROUGH', { broker, windows: text })];
    });
    const troubled = found.flatMap(({ broker, windows }) => {
      const trouble = hasConsumers ? troubleOfConsumers(windows) : null;
      return trouble === null ? [] : [new QuotameshError('KAFKA_QUOTAS_FETCHES', { broker, trouble })];
    });
    const findings = [...rough, ...troubled].map((error) => noted(ABOUT_WINDOWS, error));
    if (findings.length > 0) return findings;
    return [good(ABOUT_WINDOWS, `one window at each of ${found.length} brokers: rates are smooth`)];
  } catch (error) {
    const reason = (error as Error).message;
    return [wrong(ABOUT_WINDOWS, new QuotameshError('TOPIC_UNREACHABLE', { topic: topic.name, reason }))];
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
  const rights = await rightsOn(link, wanted.topic);
  const missing = rights === null ? [] : missingAcls(rights);
  if (missing.length > 0) throw aclMissing(missing, wanted);
  await named(wanted, 'DescribeConfigs', () => verifyTopic(visit.kafkajs, link, wanted, leaders.length));
  const withoutLeader = leaders.indexOf(null);
  if (withoutLeader !== -1) {
    const reason = `partition ${withoutLeader} has no leader`;
    throw new QuotameshError('TOPIC_UNREACHABLE', { topic: wanted.topic, reason });
  }
  const may = rights === null ? 'what we may do there is told by Kafka 2.8 or newer' : 'we may read and write it';
  const count = `${leaders.length} partition${leaders.length === 1 ? '' : 's'}`;
  return good(about, `${count}, settings as nodes need them; ${may}`);
}

/** Returns a bit per operation; null = the broker is too old. */
async function rightsOn(link: BrokerLink, topic: string): Promise<number | null> {
  if (!link.serves('Metadata', METADATA_WITH_ID_VERSION)) return null;
  const { topicMetadata } = await link.exchange(metadataWithId(topic, { withRights: true }));
  return topicMetadata[0]?.rights ?? null;
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

/** Holds connections to a configured Kafka, made as a node's, for one visit. */
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
