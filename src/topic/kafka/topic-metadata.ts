import { MalformedAnswer } from '../answers/malformed-answer.js';
import type { BrokerAddress, BrokerLink } from './broker-link.js';
import type { Kafkajs } from './kafkajs-internals.js';
import { METADATA_WITH_ID_VERSION, metadataWithId } from './metadata-10.js';
import { brokerError } from './topic-failure.js';

/** Broker that leads a partition, with its epoch; −1 = unknown. */
export interface LeadingBroker extends BrokerAddress {
  readonly leaderEpoch: number;
}

/** Leaders of the partitions, by one broker. */
export interface TopicMetadata {
  readonly exists: boolean;
  /** Null = no ids, before Kafka 2.8. */
  readonly topicId: Buffer | null;
  /** Broker that creates topics: any in KRaft mode, else the controller. */
  readonly controller: BrokerAddress;
  /** Leader per partition; null = none now. */
  readonly leaders: readonly (LeadingBroker | null)[];
  /** Copies of the partition that has fewest. */
  readonly replicas: number;
}

const NO_LEADER = new Set(['LEADER_NOT_AVAILABLE', 'REPLICA_NOT_AVAILABLE', 'LISTENER_NOT_FOUND']);
const UNKNOWN_TOPIC_OR_PARTITION = 3;

export async function fetchTopicMetadata(kafkajs: Kafkajs, link: BrokerLink, topic: string): Promise<TopicMetadata> {
  const answer = link.serves('Metadata', METADATA_WITH_ID_VERSION)
    ? await link.exchange(metadataWithId(topic))
    : await link.send<MetadataAnswer>('Metadata', { topics: [topic], allowAutoTopicCreation: false });
  const addresses = new Map(answer.brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]));
  const controller = addresses.get(answer.controllerId) ?? link.address;
  const found = answer.topicMetadata.find((each) => each.topic === topic);
  const errorCode = found?.topicErrorCode ?? UNKNOWN_TOPIC_OR_PARTITION;
  if (!found || errorCode === UNKNOWN_TOPIC_OR_PARTITION) {
    return { exists: false, topicId: null, controller, leaders: [], replicas: 0 };
  }
  if (errorCode !== 0) throw brokerError(kafkajs, errorCode);
  const leaders: (LeadingBroker | null)[] = new Array(found.partitionMetadata.length).fill(null);
  for (const { partitionId, partitionErrorCode, leader, leaderEpoch = -1 } of found.partitionMetadata) {
    if (!(partitionId in leaders)) {
      throw new MalformedAnswer('malformed', `partition ${partitionId} of ${leaders.length}`);
    }
    const error = partitionErrorCode === 0 ? null : brokerError(kafkajs, partitionErrorCode);
    if (error && !NO_LEADER.has(error.type)) throw error;
    const address = error ? undefined : addresses.get(leader);
    leaders[partitionId] = address === undefined ? null : { ...address, leaderEpoch };
  }
  const replicas = Math.min(...found.partitionMetadata.map((partition) => partition.replicas.length));
  return { exists: true, topicId: found.topicId ?? null, controller, leaders, replicas };
}

export interface MetadataAnswer {
  readonly brokers: readonly { readonly nodeId: number; readonly host: string; readonly port: number }[];
  readonly controllerId: number;
  readonly topicMetadata: readonly {
    readonly topicErrorCode: number;
    readonly topic: string;
    readonly topicId?: Buffer | null;
    /** Bit per operation; null = not requested. */
    readonly rights?: number | null;
    readonly partitionMetadata: readonly {
      readonly partitionErrorCode: number;
      readonly partitionId: number;
      readonly leader: number;
      readonly leaderEpoch?: number;
      readonly replicas: readonly number[];
    }[];
  }[];
}
