import type { ResolvedConfig, TopicConfig } from '../config/resolved-config.js';

/**
 * Takes the secrets of the configuration out of a finished log line, wherever they stand: an error message of a client
 * library may quote what it was given, which redaction by key cannot know.
 */
export function scrubberOf({ topic }: ResolvedConfig): (line: string) => string {
  const secrets = [...secretsOfStore(topic), ...secretsOfSigning(topic)]
    .filter((secret): secret is string => typeof secret === 'string' && secret.length >= LENGTH_MIN)
    // As they stand inside a JSON string.
    .map((secret) => JSON.stringify(secret).slice(1, -1));
  return (line) => secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, '***'), line);
}

function secretsOfStore(topic: TopicConfig): unknown[] {
  if (topic.kind !== 'kafka' && topic.kind !== 'redis') return [];
  const tls = typeof topic.tls === 'object' ? topic.tls : {};
  const own =
    topic.kind === 'kafka'
      ? [topic.sasl?.password, topic.sasl?.clientSecret]
      : [topic.password, topic.sentinel.password];
  return [...own, tls.passphrase, tls.key];
}

function secretsOfSigning(topic: TopicConfig): unknown[] {
  if (topic.kind === 'none' || topic.hmac === null) return [];
  const { key, nextKey, previousKey } = topic.hmac;
  return [key, nextKey, previousKey];
}

/** Shorter ones would be found in ordinary words, and break the line. */
const LENGTH_MIN = 6;
