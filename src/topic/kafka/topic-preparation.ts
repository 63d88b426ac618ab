import { setTimeout as sleep } from 'node:timers/promises';
import { saidNothingOf } from '../answers/malformed-answer.js';
import { TopicUnusable } from '../remote/topic-unusable.js';
import { type BrokerLink, nameOf } from './broker-link.js';
import type { Kafkajs } from './kafkajs-internals.js';
import { brokerError, type TopicAccess } from './topic-failure.js';
import { fetchTopicMetadata, type TopicMetadata } from './topic-metadata.js';
import {
  CREATED_WITH,
  settingsMistake,
  strictlyCreatedWith,
  strictReplicas,
  VERIFIED_SETTINGS,
} from './topic-settings.js';

export interface WantedTopic extends TopicAccess {
  readonly partitions: number;
  readonly replicationFactor: number;
  /** True = records are never written again: none may be deleted by age. */
  readonly keepsForever: boolean;
  /** Set where strict groups depend on it; accepts a single replica, or not. */
  readonly strict: { readonly acceptsSingle: boolean } | null;
}

/** Traits by which a topic is verified. */
export type VerifiedTopic = Pick<WantedTopic, 'topic' | 'keepsForever' | 'strict'>;

/** Milliseconds for Kafka's controller to create the topic; brokers follow within ms, or busy within seconds. */
const CREATION_TIMEOUT_MS = 10_000;
const LEADERS_POLL_MS = 50;
/** Refusals that do not pass. */
const NOT_AS_CONFIGURED = new Set([
  'INVALID_REPLICATION_FACTOR',
  'INVALID_PARTITIONS',
  'INVALID_CONFIG',
  'INVALID_TOPIC_EXCEPTION',
  'POLICY_VIOLATION',
]);
const TOPIC_RESOURCE = 2;

/**
 * Creates the topic, or finds another's. @param link leads to the controller
 * @param onlyAsks true = Kafka only validates
 */
export async function createKafkaTopic(
  kafkajs: Kafkajs,
  link: BrokerLink,
  wanted: WantedTopic,
  { onlyAsks = false } = {},
): Promise<void> {
  const { topic, partitions: numPartitions, strict } = wanted;
  const replicationFactor =
    strict === null ? wanted.replicationFactor : strictReplicas(wanted.replicationFactor, strict.acceptsSingle);
  const settings = strict === null ? CREATED_WITH : { ...CREATED_WITH, ...strictlyCreatedWith(strict.acceptsSingle) };
  const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
  const topics = [{ topic, numPartitions, replicationFactor, configEntries }];
  const request = { topics, timeout: CREATION_TIMEOUT_MS, validateOnly: onlyAsks };
  const answer = await link.send<CreationAnswer>('CreateTopics', request, { holdBackMs: CREATION_TIMEOUT_MS });
  const refused = answer.topicErrors.find(({ errorCode }) => errorCode !== 0);
  if (!refused) return;
  const error = brokerError(kafkajs, refused.errorCode);
  if (error.type === 'TOPIC_ALREADY_EXISTS') return;
  if (!NOT_AS_CONFIGURED.has(error.type) || isFenced(refused.errorMessage)) throw error;
  const reason = `Kafka refuses to create it: ${refused.errorMessage ?? error.message} (${error.type})`;
  throw new TopicUnusable('TOPIC_SETTINGS', { topic, reason }, { cause: error });
}

/** Tests for fenced brokers, as after a start or sleep; Kafka then reports too few. */
function isFenced(message: string | null | undefined): boolean {
  return message?.includes('All brokers are currently fenced') === true;
}

/** Resolves with a new topic's metadata, once every broker knows it. */
export async function untilLed(kafkajs: Kafkajs, link: BrokerLink, topic: string): Promise<TopicMetadata> {
  const givenUpAt = performance.now() + CREATION_TIMEOUT_MS;
  for (;;) {
    const metadata = await fetchTopicMetadata(kafkajs, link, topic);
    const isLed = metadata.exists && metadata.leaders.every((leader) => leader !== null);
    if (isLed || performance.now() > givenUpAt) return metadata;
    await sleep(LEADERS_POLL_MS);
  }
}

/** Verifies a topic. Throws TOPIC_SETTINGS with every mistake. */
export async function verifyTopic(
  kafkajs: Kafkajs,
  link: BrokerLink,
  wanted: VerifiedTopic,
  partitions: number,
): Promise<void> {
  const reason = await mistakeIn(kafkajs, link, wanted, partitions);
  if (reason !== null) throw new TopicUnusable('TOPIC_SETTINGS', { topic: wanted.topic, reason });
}

/** Lists every mistake in a topic's settings, with the correcting command; null = none. */
export async function mistakeIn(
  kafkajs: Kafkajs,
  link: BrokerLink,
  { topic, keepsForever, strict }: VerifiedTopic,
  partitions: number,
): Promise<string | null> {
  const resources = [{ type: TOPIC_RESOURCE, name: topic, configNames: VERIFIED_SETTINGS }];
  const answer = await link.send<ConfigsAnswer>('DescribeConfigs', { resources, includeSynonyms: false });
  const [resource] = answer.resources;
  if (resource === undefined) throw saidNothingOf(`topic ${topic}`);
  if (resource.errorCode !== 0) throw brokerError(kafkajs, resource.errorCode);
  const settings = new Map(
    resource.configEntries.map(({ configName, configValue }) => [configName, configValue ?? '']),
  );
  const replicas = strict === null ? 0 : (await fetchTopicMetadata(kafkajs, link, topic)).replicas;
  const shape = { partitions, settings, keepsForever, strict: strict && { ...strict, replicas } };
  return settingsMistake(topic, shape, nameOf(link.address));
}

interface CreationAnswer {
  readonly topicErrors: readonly { readonly errorCode: number; readonly errorMessage?: string | null }[];
}
interface ConfigsAnswer {
  readonly resources: readonly {
    readonly errorCode: number;
    readonly configEntries: readonly { readonly configName: string; readonly configValue: string | null }[];
  }[];
}
