import type { TopicLog } from '../remote/topic-log.js';
import { oauthBearer } from '../tokens/oauth-bearer.js';
import { createTokenSource, type TokenSource } from '../tokens/token-source.js';
import { type BrokerAddress, type LinkSettings, parseAddress } from './broker-link.js';
import type { KafkaTopicConfig } from './kind.js';
import type { ReaderSettings } from './leader-reader.js';
import type { WriterSettings } from './leader-writer.js';
import { granteeOf } from './needed-acls.js';
import { OAUTH } from './sasl.js';
import type { WantedTopic } from './topic-preparation.js';

export interface KafkaTopicOptions extends LinkSettings, ReaderSettings, WriterSettings, WantedTopic {
  readonly brokers: readonly BrokerAddress[];
}

/** Options that do not fit into YAML. */
export interface KafkaTopicHooks {
  /** Sink for lines of the adapter and kafkajs; default: dropped. */
  readonly log?: TopicLog;
  /** True = records are never written again, as in the registry's topic; default false. */
  readonly keepsForever?: boolean;
  /** True = strict groups depend on it: nothing that Kafka has acknowledged may be lost. */
  readonly isStrict?: boolean;
}

/** Returns a fresh token whenever a connection needs one. */
export type TokenProvider = () => Promise<string>;

export function kafkaTopicOptions(
  config: KafkaTopicConfig,
  hooks: KafkaTopicHooks,
  token: TokenProvider | null,
): KafkaTopicOptions {
  const { name, brokers, sasl, acceptSingleReplica: acceptsSingle, kind: _, ...rest } = config;
  return {
    ...rest,
    topic: name,
    grantee: granteeOf(brokers, sasl, rest.tls),
    keepsForever: hooks.keepsForever ?? false,
    strict: hooks.isStrict === true ? { acceptsSingle } : null,
    brokers: brokers.map(parseAddress),
    sasl: token === null ? sasl : { mechanism: OAUTH, authenticationProvider: oauthBearer(name, token) },
  };
}

/** Makes the configured source of tokens; null = none is needed. */
export function tokensOf(config: KafkaTopicConfig, log: TopicLog): TokenSource | null {
  const { name: topic, sasl, connectionTimeoutMs, requestTimeoutMs } = config;
  if (sasl?.mechanism !== OAUTH) return null;
  const timeoutMs = Math.round(TOKEN_TIME_RATIO * Math.max(connectionTimeoutMs, requestTimeoutMs));
  return createTokenSource({ topic, sasl, timeoutMs, log });
}

/** Part of the connection timeout for a token. So a silent endpoint is named before the broker. */
const TOKEN_TIME_RATIO = 0.6;
