import type { KafkaTopicConfig } from '../../config/resolved/resolved-config.js';
import type { TopicLog } from '../remote/topic-log.js';
import { OAUTH } from './kafka-topic-options.js';
import { createTokenSource, type TokenSource } from './token-source.js';

/** The tokens that a configuration asks for; null where connections prove who they are otherwise, or not at all. */
export function tokensOf(config: KafkaTopicConfig, log: TopicLog): TokenSource | null {
  const { name: topic, sasl, connectionTimeoutMs, requestTimeoutMs } = config;
  if (sasl?.mechanism !== OAUTH) return null;
  const timeoutMs = Math.round(TOKEN_TIME_RATIO * Math.max(connectionTimeoutMs, requestTimeoutMs));
  return createTokenSource({ topic, sasl, timeoutMs, log });
}

/**
 * The part of the connection timeout that a token may take, so that a silent token endpoint is named before the broker
 * is blamed.
 */
const TOKEN_TIME_RATIO = 0.6;
