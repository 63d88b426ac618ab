import type { ResolvedConfig } from '../config/resolved-config.js';

/**
 * Takes the secrets of the configuration out of a finished log line, wherever they stand: an error message of a client
 * library may quote what it was given, which redaction by key cannot know.
 */
export function scrubberOf({ topic }: ResolvedConfig): (line: string) => string {
  if (topic.kind !== 'kafka' && topic.kind !== 'redis') return (line) => line;
  const tls = typeof topic.tls === 'object' ? topic.tls : {};
  const own = topic.kind === 'kafka' ? [topic.sasl?.password] : [topic.password, topic.sentinel.password];
  const secrets = [...own, tls.passphrase, tls.key]
    .filter((secret): secret is string => typeof secret === 'string' && secret.length >= LENGTH_MIN)
    // As they stand inside a JSON string.
    .map((secret) => JSON.stringify(secret).slice(1, -1));
  return (line) => secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, '***'), line);
}

/** Shorter ones would be found in ordinary words, and break the line. */
const LENGTH_MIN = 6;
