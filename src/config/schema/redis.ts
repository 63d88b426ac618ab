import { type Members, section } from '../setting/section.js';
import { NODE_NAME, REDIS_PREFIX } from '../setting/setting.js';
import { TLS } from './tls.js';

const SECRET_REMEDY =
  'Give a text that is not empty, or the path of a file in the key of the same name with File at the end.';

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
    kind: 'text',
    mayBeFile: true,
    default: null,
    secret: true,
    remedy: SECRET_REMEDY,
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

export const REDIS_TOPIC = {
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
    kind: 'text',
    mayBeFile: true,
    default: null,
    secret: true,
    remedy: SECRET_REMEDY,
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
    pattern: REDIS_PREFIX,
    missedBy: 'a Redis with several users',
    buys: 'How the names of all keys begin; the name of the cluster follows.',
    costs: 'Another prefix is another, empty topic: its nodes do not see these.',
  },
  tls: TLS,
  sentinel: SENTINEL,
} as const satisfies Members;
