import type { KafkaTopicConfig } from '../../config/resolved/resolved-config.js';
import type { TopicLog } from '../remote/topic-log.js';
import { type BrokerAddress, type LinkSettings, parseAddress } from './broker-link.js';
import type { ReaderSettings } from './leader-reader.js';
import type { WriterSettings } from './leader-writer.js';
import { granteeOf } from './needed-acls.js';
import { oauthBearer } from './oauth-bearer.js';
import type { WantedTopic } from './topic-preparation.js';

/** What the parts of the adapter need of the configuration, in their words. */
export interface KafkaTopicOptions extends LinkSettings, ReaderSettings, WriterSettings, WantedTopic {
  readonly brokers: readonly BrokerAddress[];
}

/** kafkajs's name of it. */
export const OAUTH = 'oauthbearer';

/** Options that do not fit into YAML. */
export interface KafkaTopicHooks {
  /** Lines of the adapter and of kafkajs; by default they are dropped. */
  readonly log?: TopicLog;
  /** True = records are never written again, as in the registry's topic; default false. */
  readonly keepsForever?: boolean;
}

/** Gives a fresh token whenever a connection needs one. */
export type TokenProvider = () => Promise<string>;

export function kafkaTopicOptions(
  config: KafkaTopicConfig,
  hooks: KafkaTopicHooks,
  token: TokenProvider | null,
): KafkaTopicOptions {
  const { name, brokers, sasl, kind: _, ...rest } = config;
  return {
    ...rest,
    topic: name,
    grantee: granteeOf(brokers, sasl, rest.tls),
    keepsForever: hooks.keepsForever ?? false,
    brokers: brokers.map(parseAddress),
    sasl: token === null ? sasl : { mechanism: OAUTH, authenticationProvider: oauthBearer(name, token) },
  };
}
