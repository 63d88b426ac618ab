import type { KafkaTopicConfig } from '../../config/resolved-config.js';
import type { TopicLog } from '../remote/topic-log.js';
import { type BrokerAddress, type LinkSettings, parseAddress } from './broker-link.js';
import type { ReaderSettings } from './leader-reader.js';
import type { WriterSettings } from './leader-writer.js';
import type { WantedTopic } from './topic-preparation.js';

/** What the parts of the adapter need of the configuration, in their words. */
export interface KafkaTopicOptions extends LinkSettings, ReaderSettings, WriterSettings, WantedTopic {
  readonly brokers: readonly BrokerAddress[];
}

/** What does not fit into YAML. */
export interface KafkaTopicHooks {
  /** Lines of the adapter and of kafkajs; by default they are dropped. */
  readonly log?: TopicLog;
  /** Nothing in the topic is ever said again (the registry's); default false. */
  readonly keepsForever?: boolean;
  /** Makes `sasl: { mechanism: 'oauthbearer' }` work: returns a fresh token whenever a connection needs one. */
  readonly oauthBearerProvider?: () => Promise<{ readonly value: string }>;
}

export function kafkaTopicOptions(config: KafkaTopicConfig, hooks: KafkaTopicHooks): KafkaTopicOptions {
  const { name, brokers, sasl, kind: _, ...rest } = config;
  const { oauthBearerProvider } = hooks;
  return {
    ...rest,
    topic: name,
    keepsForever: hooks.keepsForever ?? false,
    brokers: brokers.map(parseAddress),
    sasl: sasl && { ...sasl, ...(oauthBearerProvider && { oauthBearerProvider }) },
  };
}
