import type { ConnectionOptions } from 'node:tls';
import type { TopicLog } from '../remote/topic-log.js';
import type { RedisTopicConfig } from './kind.js';
import type { LogKeys } from './scripts.js';

/** Options that no configuration holds. */
export interface RedisTopicHooks {
  /** Sink for lines of the adapter; default: dropped. */
  readonly log?: TopicLog;
  /** True = records are never written again, as in the registry's topic; default false. */
  readonly keepsForever?: boolean;
}

export interface RedisTopicOptions extends Omit<RedisTopicConfig, 'kind' | 'prefix' | 'addresses' | 'tls'> {
  /** Prefix of all keys, for messages. */
  readonly topic: string;
  readonly keys: LogKeys;
  /** The server, or the Sentinels. */
  readonly addresses: readonly Address[];
  readonly tls: ConnectionOptions | null;
  readonly keepsForever: boolean;
}

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** Reads options. @param log `reports` or `registry`: a server holds several logs. */
export function redisTopicOptions(
  cluster: string,
  log: string,
  config: RedisTopicConfig,
  hooks: RedisTopicHooks,
): RedisTopicOptions {
  const topic = `${config.prefix}${cluster}:${log}:`;
  const { kind: _, prefix: __, addresses, tls, ...rest } = config;
  return {
    ...rest,
    topic,
    keys: { log: `${topic}log`, newest: `${topic}newest`, meta: `${topic}meta` },
    addresses: addresses.map(addressOf),
    tls: tls === false ? null : tls === true ? {} : tls,
    keepsForever: hooks.keepsForever ?? false,
  };
}

/** Parses an address, whose form the settings table has checked. */
function addressOf(text: string): Address {
  const at = text.lastIndexOf(':');
  return { host: text.slice(0, at).replace(/^\[|\]$/g, ''), port: Number(text.slice(at + 1)) };
}
