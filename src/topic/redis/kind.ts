import { type Members, section, type ValueOf } from '../../config/setting/section.js';
import { type NamePattern, NODE_NAME } from '../../config/setting/setting.js';
import { SECRET, type TextsRead } from '../../config/setting/text-file.js';
import { TLS } from '../../config/setting/tls.js';
import {
  checkTls,
  type KindMistakes,
  logsOf,
  type SoundOf,
  tlsOf,
  topicKind,
  withEnabled,
} from '../../config/setting/topic-kind.js';

const PREFIX: NamePattern = {
  matches: /^[A-Za-z0-9._:/-]{1,100}$/,
  text: '1 to 100 letters, digits and . _ : / -',
};

const SENTINEL = section({
  master: {
    kind: 'name',
    default: null,
    pattern: NODE_NAME,
    missedBy: 'users of Sentinel',
    buys: 'The name that the Sentinels know the master by; nodes ask them who it is now.',
    costs: 'A failover may lose the last acknowledged records; the nodes say them again.',
  },
  username: {
    kind: 'text',
    default: null,
    missedBy: 'Sentinels with ACLs',
    buys: 'User at the Sentinels.',
    costs: 'Needs sentinel.password.',
  },
  password: {
    ...SECRET,
    missedBy: 'Sentinels with passwords',
    buys: 'Password at the Sentinels.',
    costs: 'A secret: prefer a file or the environment.',
  },
  tls: {
    kind: 'switch',
    default: false,
    missedBy: 'Sentinels with TLS',
    buys: 'true encrypts the connections to the Sentinels too, by the settings of tls.',
    costs: 'Needs tls.',
  },
});

const SETTINGS = {
  addresses: {
    kind: 'addresses',
    default: null,
    defaultText: 'none: required with kind redis',
    remedy: 'Name the server, e.g. `addresses: ["127.0.0.1:6379"]`, or the Sentinels and sentinel.master.',
    missedBy: 'everybody',
    buys: 'The one Redis server; with sentinel.master the Sentinels, of which one that answers is enough.',
    costs: 'Nothing. Redis Cluster is not supported: the keys of a log belong together.',
  },
  username: {
    kind: 'text',
    default: null,
    missedBy: 'Redis with ACLs',
    buys: 'User at Redis (ACL).',
    costs: 'Needs password.',
  },
  password: {
    ...SECRET,
    missedBy: 'Redis with passwords',
    buys: 'Password of the user, or of the server (requirepass).',
    costs: 'A secret: prefer a file or the environment; it is sent as it is, so use tls.',
  },
  db: {
    kind: 'count',
    default: 0,
    min: 0,
    max: 65_535,
    missedBy: 'a Redis with several users',
    buys: 'The logical database.',
    costs: 'Another number is another, empty topic: its nodes do not see these.',
  },
  prefix: {
    kind: 'name',
    default: 'quotamesh:',
    pattern: PREFIX,
    missedBy: 'a Redis with several users',
    buys: 'The names of all keys begin with it; the name of the cluster follows.',
    costs: 'Another prefix is another, empty topic: its nodes do not see these.',
  },
  tls: TLS,
  sentinel: SENTINEL,
} as const satisfies Members;

const CONSTANTS = {
  appendTimeoutMs: 2000,
  /** A server that is down is given up later, its Sentinels included. */
  connectionTimeoutMs: 2000,
  /** A frozen server is noticed later. */
  requestTimeoutMs: 1500,
  /** Fewer reads where records never stop coming; each record may wait as long. */
  readIntervalMs: 40,
  /** A starting node waits until the log is this old: running nodes have put back what Redis lost by then. */
  settleMs: 3000,
};

export const REDIS_TOPIC = topicKind({
  says: 'any machines; needs a Redis',
  sharedBy: 'processes',
  strictLacks: 'a failover loses writes that Redis has acknowledged, and what they said would be admitted twice',
  settings: SETTINGS,
  constants: CONSTANTS,
  complete: (read, { written }) => ({ ...read, tls: withEnabled(read.tls, written) }),
  check: checkRedis,
  configOf,
  open: async (config, opening) => {
    const { RedisReportTopic } = await import('./redis-report-topic.js');
    const { cluster, log } = opening;
    if (log === 'kafka-quotas' || log === 'strict') return null;
    const hooks = { keepsForever: log !== 'reports', ...logsOf(opening, 'redis') };
    return new RedisReportTopic({ cluster, log }, config, hooks);
  },
  examine: async (config, visit) => (await import('./examine-redis.js')).examineRedis(config, visit),
  readNewest: async (...asked) => (await import('./examine-redis.js')).readNewestInRedis(...asked),
});

/** Settings as the adapter takes them. */
export type RedisTopicConfig = ReturnType<typeof configOf> & typeof CONSTANTS;

function configOf({ addresses, tls, ...others }: TextsRead<ValueOf<typeof SETTINGS>>) {
  // Without addresses there would have been a mistake.
  return { ...others, kind: 'redis' as const, addresses: addresses!, tls: tlsOf(tls) };
}

function checkRedis(read: SoundOf<typeof SETTINGS>, mistakes: KindMistakes): void {
  const { addresses, username, sentinel, tls } = read;
  checkTls(tls, mistakes);
  mistakes.require('addresses', 'with kind redis');
  if (username !== null) mistakes.require('password', 'with username');
  if (sentinel.username !== null) mistakes.require('sentinel.password', 'with sentinel.username');
  const usesSentinel = sentinel.master !== null;
  if (!usesSentinel && addresses && addresses.length > 1) {
    const problem = `must name one server, got ${addresses.length}`;
    const remedy = 'Name one, or add sentinel.master where they are Sentinels.';
    mistakes.add(['addresses'], { problem, allowed: 'one host:port', remedy });
  }
  for (const key of ['username', 'password'] as const) {
    if (!usesSentinel && sentinel[key] !== null) {
      mistakes.require('sentinel.master', `with sentinel.${key}`);
    }
  }
  if (sentinel.tls === true && tls.enabled === false) {
    const remedy = 'Add `tls: true`, or remove sentinel.tls.';
    mistakes.add(['sentinel', 'tls'], { problem: 'needs topic.tls', allowed: 'false without tls', remedy });
  }
}
