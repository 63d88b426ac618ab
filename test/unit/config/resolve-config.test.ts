import { describe, expect, test } from 'vitest';
import { QuotameshError } from '../../../src/base/errors/quotamesh-error.js';
import { type ResolveOptions, resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { GroupConfig } from '../../../src/config/resolved/resolved-config.js';
import { ConfigError } from '../../../src/config/setting/config-error.js';
import { parseYaml } from '../../../src/config/yaml/parse-yaml.js';

const INLINE: ResolveOptions = { source: '(inline)', folder: '/etc/quotamesh', hostName: 'web-1' };
const UNLIMITED = Infinity;

function fromYaml(yaml: string, options: Partial<ResolveOptions> = {}) {
  return resolveConfig(parseYaml(yaml).raw, { ...INLINE, ...options });
}

const PEM = '-----BEGIN CERTIFICATE-----';

describe('the minimal node.yaml', () => {
  const config = fromYaml(`
cluster: demo
topic: { kind: embedded, path: ./state }   # or { kind: kafka, brokers: ["127.0.0.1:9092"], name: quotamesh-reports }
groups:
  orders:
    quota: { publish: { messagesPerSecond: 1000, bytesPerSecond: 1MiB } }   # dispatch: the same keys
    strategy: max-min
`);

  test('is frozen to the bottom', () => {
    const look = (part: unknown): void => {
      if (typeof part !== 'object' || part === null) return;
      expect(Object.isFrozen(part)).toBe(true);
      for (const child of Object.values(part)) look(child);
    };
    look(config);
  });
});

describe('defaults:', () => {
  const groups = new Map<string, GroupConfig>(
    fromYaml(`
cluster: demo
defaults:
  quota:
    publish: { messagesPerSecond: 100, bytesPerSecond: 1MiB }
    dispatch: { messagesPerSecond: 50 }
  debtMs: 200ms
  strategy: proportional
  isolation: { policy: floor, holdMs: 2s }
  weights: { n1: 2, n2: 3 }
groups:
  all:
  one: { quota: { publish: { messagesPerSecond: 500 } }, isolation: { holdMs: 0 }, weights: { n2: 4, n3: 5 } }
  two: { quota: { publish: { bytesPerSecond: null } }, debtMs: null, weights: { n1: null } }
  three: { quota: { publish: null }, isolation: null, weights: null }
  four: { quota: null, strategy: ~ }
  five: { quota: { publish: { messagesPerSecond: 0 } } }
`).groups.map((group) => [group.name, group]),
  );

  test.each<[string, readonly [number, number], readonly [number, number]]>([
    ['all', [100, 1_048_576], [50, UNLIMITED]],
    ['one', [500, 1_048_576], [50, UNLIMITED]],
    ['two', [100, UNLIMITED], [50, UNLIMITED]],
    ['three', [UNLIMITED, UNLIMITED], [50, UNLIMITED]],
    ['four', [UNLIMITED, UNLIMITED], [UNLIMITED, UNLIMITED]],
    ['five', [0, 1_048_576], [50, UNLIMITED]],
  ])('group %s has the quota publish %j, dispatch %j', (name, publish, dispatch) => {
    expect(groups.get(name)?.quota).toEqual({ publish, dispatch });
  });

  test('inherit single keys deeply; null is the default of the table', () => {
    expect(groups.get('one')?.isolation).toEqual({ policy: 'floor', holdMs: 0 });
    expect(groups.get('three')?.isolation).toEqual({ policy: 'equal-share', holdMs: 10_000 });
    expect(groups.get('two')?.debtMs).toBe(60_000);
    expect(groups.get('four')).toMatchObject({ debtMs: 200, strategy: 'max-min' });
  });

  test('merge weights node by node', () => {
    expect(groups.get('all')?.weights).toEqual({ n1: 2, n2: 3 });
    expect(groups.get('one')?.weights).toEqual({ n1: 2, n2: 4, n3: 5 });
    expect(groups.get('two')?.weights).toEqual({ n2: 3 });
    expect(groups.get('three')?.weights).toEqual({});
  });
});

test('names that JavaScript objects know are names like any other', () => {
  const { groups } = fromYaml(`
cluster: demo
defaultGroup: constructor
groups:
  constructor: { weights: { toString: 2 } }
  toString: {}
`);
  expect(groups.map(({ name }) => name)).toEqual(['constructor', 'toString']);
  expect(groups[0]?.weights.toString).toBe(2);
  expect(groups[0]?.weights.constructor).toBeUndefined();
  expect(groups[1]?.weights.toString).toBeUndefined();
});

describe('the topic', () => {
  const groups = { orders: {} };

  test.each([
    [undefined, { kind: 'embedded', path: '/etc/quotamesh/state', appendTimeoutMs: 2000, hmac: null }],
    ['embedded', { kind: 'embedded', path: '/etc/quotamesh/state', appendTimeoutMs: 2000, hmac: null }],
    ['memory', { kind: 'memory', appendTimeoutMs: 5000, hmac: null }],
    [
      { kind: 'embedded', path: '/var/q' },
      { kind: 'embedded', path: '/var/q', appendTimeoutMs: 2000, hmac: null },
    ],
  ])('%j', (topic, expected) => {
    expect(resolveConfig({ cluster: 'demo', topic, groups }, INLINE).topic).toEqual(expected);
  });

  const kafka = { kind: 'kafka', brokers: ['kafka-1:9092', '[::1]:9093'] };

  test.each([
    [false, false],
    [true, {}],
    [{}, {}],
    [{ enabled: false, ca: PEM }, false],
    [
      { ca: PEM, servername: 's' },
      { ca: PEM, servername: 's' },
    ],
    [
      { cert: { file: 'c.pem' }, key: { file: '/k.pem' }, passphrase: 'p' },
      { cert: PEM, key: PEM, passphrase: 'p' },
    ],
  ])('tls: %j', (tls, expected) => {
    const files: Record<string, string> = { '/etc/quotamesh/c.pem': `${PEM}\n`, '/k.pem': `${PEM}\r\n` };
    const options = { ...INLINE, readFile: (path: string) => files[path] };
    const { topic } = resolveConfig({ cluster: 'demo', topic: { ...kafka, tls }, groups }, options);
    expect(topic).toHaveProperty('tls', expected);
  });
});

describe('a configuration given as an object', () => {
  test('is checked like a file, without lines', () => {
    const broken = { cluster: 'demo', http: { port: '80k' }, groups: { orders: { quota: { publish: { mps: 1 } } } } };
    try {
      resolveConfig(broken, INLINE);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(QuotameshError);
      expect(error).toBeInstanceOf(ConfigError);
      const { code, exitCode, mistakes, message } = error as ConfigError;
      expect({ code, exitCode }).toEqual({ code: 'CONFIG_INVALID', exitCode: 78 });
      expect(mistakes).toMatchObject([
        {
          file: '(inline)',
          line: null,
          column: null,
          path: 'http.port',
          allowed: expect.stringContaining('between 0'),
        },
        { path: 'groups.orders.quota.publish.mps', problem: 'is not a known key', remedy: expect.any(String) },
      ]);
      expect(message).toContain('(inline): 2 mistake(s)');
      expect(message).toContain('(inline): http.port must be a whole number between 0 and 65535');
    }
  });

  test.each([null, undefined, 5, 'text', [], () => 1, Symbol('s'), 10n])('%s is refused', (raw) => {
    expect(() => resolveConfig(raw, INLINE)).toThrow(ConfigError);
  });
});

describe('the default node id', () => {
  test.each([
    ['web-1', 7070, 'web-1-7070'],
    ['ärger.local', 80, 'rger.local-80'],
    ['_x y', 81, 'x-y-81'],
    ['', 82, 'node-82'],
  ])('of host %j and port %d is %s', (hostName, port, nodeId) => {
    const raw = { cluster: 'demo', http: { port }, groups: { a: {} } };
    expect(resolveConfig(raw, { ...INLINE, hostName }).nodeId).toBe(nodeId);
  });
});
