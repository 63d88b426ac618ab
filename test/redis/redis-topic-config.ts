import { randomBytes } from 'node:crypto';
import type { RedisTopicConfig } from '../../src/topic/redis/kind.js';

/** The defaults, with a prefix that nobody else uses, and no waiting for an old log. */
export function redisTopicConfig(
  addresses: readonly string[],
  overrides: Partial<RedisTopicConfig> = {},
): RedisTopicConfig {
  return {
    kind: 'redis',
    addresses,
    username: null,
    password: null,
    db: 0,
    prefix: `test-${randomBytes(6).toString('hex')}:`,
    appendTimeoutMs: 1000,
    connectionTimeoutMs: 1000,
    requestTimeoutMs: 1000,
    readIntervalMs: 40,
    settleMs: 0,
    tls: false,
    sentinel: { master: null, username: null, password: null, tls: false },
    ...overrides,
  };
}
