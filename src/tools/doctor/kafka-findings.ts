import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { Log } from '../../config/setting/topic-kind.js';
import { type BrokerAddress, type BrokerLink, nameOf } from '../../topic/kafka/broker-link.js';
import type { KafkaTopicConfig } from '../../topic/kafka/kind.js';
import { kafkaNameOf } from '../../topic/kafka/kind.js';
import { METADATA_WITH_ID_VERSION, metadataWithId } from '../../topic/kafka/metadata-10.js';
import { kafkaUnusable } from '../../topic/kafka/topic-failure.js';
import { reasonOf } from '../../topic/remote/topic-unusable.js';
import { type Finding, good, looked, noted, skipped, wrong } from './finding.js';
import { clockFinding } from './kafka-clock-finding.js';
import { ownQuotaFinding } from './kafka-own-quota-finding.js';
import { quotaFindings } from './kafka-quota-findings.js';
import { topicFinding } from './kafka-topic-finding.js';
import { KafkaVisit } from './kafka-visit.js';

/** Examines brokers, topics, and what depends on both. */
export async function kafkaFindings(
  config: ResolvedConfig,
  topic: KafkaTopicConfig,
  timeoutMs: number,
): Promise<readonly Finding[]> {
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
    const clock = looked('clocks', timeoutMs, () => clockFinding(visit, first.address, topic.name));
    const own = looked('client quotas', timeoutMs, () => ownQuotaFinding(topic, timeoutMs));
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
async function brokerFindings(
  visit: KafkaVisit,
  seeds: readonly Reached[],
  link: BrokerLink,
): Promise<readonly Finding[]> {
  const silent = seeds.filter(({ link: open }) => open === null).map(failureText);
  const known = new Set(seeds.map(({ address }) => nameOf(address)));
  const all = link.serves('Metadata', METADATA_WITH_ID_VERSION)
    ? (await link.exchange(metadataWithId(visit.options.topic))).brokers
    : [];
  const others = await Promise.all(all.filter((each) => !known.has(nameOf(each))).map((each) => reach(visit, each)));
  const lost = others.filter(({ link: open }) => open === null);
  return [
    ...(silent.length > 0 ? [noted('Kafka', `nodes begin elsewhere, but ${silent.join('; ')}`)] : []),
    ...lost.map(({ address, failure }) =>
      wrong('Kafka', new QuotameshError('BROKER_UNREACHABLE', { broker: nameOf(address), reason: reasonOf(failure) })),
    ),
    ...(lost.length + silent.length > 0 ? [] : [good('Kafka', reachedText([...seeds, ...others]))]),
  ];
}

function reachedText(brokers: readonly Reached[]): string {
  return `${brokers.map(({ address }) => nameOf(address)).join(', ')} can be reached`;
}

function failureText({ address, failure }: Reached): string {
  return `${nameOf(address)}: ${reasonOf(failure)}`;
}
