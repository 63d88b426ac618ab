import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { BrokerAddress, BrokerLink } from '../../topic/kafka/broker-link.js';
import { METADATA_WITH_ID_VERSION, metadataWithId } from '../../topic/kafka/metadata-10.js';
import { missingAcls } from '../../topic/kafka/needed-acls.js';
import { aclMissing, kafkaUnusable } from '../../topic/kafka/topic-failure.js';
import { fetchTopicMetadata, type TopicMetadata } from '../../topic/kafka/topic-metadata.js';
import { createKafkaTopic, verifyTopic, type WantedTopic } from '../../topic/kafka/topic-preparation.js';
import { type Finding, good, noted } from './finding.js';
import type { KafkaVisit } from './kafka-visit.js';

/** Checks a topic: existence, leaders, settings, rights. Throws what a node would. */
export async function topicFinding(visit: KafkaVisit, address: BrokerAddress, wanted: WantedTopic): Promise<Finding> {
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
  failWithoutLeader(wanted.topic, leaders);
  const may = rights === null ? 'what we may do there is told by Kafka 2.8 or newer' : 'we may read and write it';
  return good(
    about,
    `${leaders.length} partition${leaders.length === 1 ? '' : 's'}, settings as nodes need them; ${may}`,
  );
}

/** Returns a bit per operation; null = the broker is too old. */
async function rightsOn(link: BrokerLink, topic: string): Promise<number | null> {
  if (!link.serves('Metadata', METADATA_WITH_ID_VERSION)) return null;
  const { topicMetadata } = await link.exchange(metadataWithId(topic, { withRights: true }));
  return topicMetadata[0]?.rights ?? null;
}

function failWithoutLeader(topic: string, leaders: TopicMetadata['leaders']): void {
  const partition = leaders.indexOf(null);
  if (partition !== -1)
    throw new QuotameshError('TOPIC_UNREACHABLE', { topic, reason: `partition ${partition} has no leader` });
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
