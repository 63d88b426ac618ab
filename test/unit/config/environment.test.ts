import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { ConfigOverrides, Environment } from '../../../src/config/read/environment.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { ConfigError } from '../../../src/config/setting/config-error.js';

const RAW = {
  cluster: 'demo',
  node: 'from-file',
  http: { port: 8000 },
  topic: { kind: 'embedded', path: '/from-file' },
  groups: { orders: {} },
};

function resolve(env: Environment, overrides: ConfigOverrides = {}, raw: unknown = RAW) {
  const files: Record<string, string> = { '/run/password': 'from-a-file\n' };
  const readFile = (path: string) => {
    if (files[path] === undefined) throw new Error('there is no such file');
    return files[path];
  };
  return resolveConfig(raw, { source: 'node.yaml', env, overrides, readFile, hostName: 'host' });
}

function reportOf(env: Environment, overrides: ConfigOverrides = {}, raw: unknown = RAW): string[] {
  try {
    resolve(env, overrides, raw);
    return [];
  } catch (error) {
    return (error as ConfigError).report.split('\n');
  }
}

describe('the environment', () => {
  test('wins over the file, flags win over the environment', () => {
    expect(resolve({})).toMatchObject({ nodeId: 'from-file', http: { host: '127.0.0.1', port: 8000 } });
    const env = { QUOTAMESH_NODE: 'from-env', QUOTAMESH_HTTP_PORT: '8001', QUOTAMESH_HTTP_HOST: '::1' };
    expect(resolve(env)).toMatchObject({ nodeId: 'from-env', http: { host: '::1', port: 8001 } });
    const flags = { nodeId: 'from-flag', http: '127.0.0.2:8002' };
    expect(resolve(env, flags)).toMatchObject({ nodeId: 'from-flag', http: { host: '127.0.0.2', port: 8002 } });
    expect(resolve(env, { http: '8003' })).toMatchObject({ nodeId: 'from-env', http: { host: '::1', port: 8003 } });
    expect(resolve({}, { http: '[::1]:8004' })).toMatchObject({ http: { host: '::1', port: 8004 } });
  });

  test('sets settings of every section, also ones that the file does not have', () => {
    const config = resolve({
      QUOTAMESH_TIMING_HEARTBEAT_MS: '500ms',
      QUOTAMESH_SAMPLE_INTERVAL_MS: '10',
      QUOTAMESH_LOG_LEVEL: 'debug',
      QUOTAMESH_METRICS_PER_GROUP: 'orders',
      QUOTAMESH_DEFAULT_GROUP: 'orders',
      QUOTAMESH_DEFAULTS_QUOTA_PUBLISH_MESSAGES_PER_SECOND: '10k',
      QUOTAMESH_TOPIC_PATH: '/from-env',
      HOME: '/root',
    });
    expect(config.timing.heartbeatMs).toBe(500);
    expect(config.sampleIntervalMs).toBe(10);
    expect(config).toMatchObject({
      log: { level: 'debug' },
      metrics: { perGroup: ['orders'] },
      defaultGroup: 'orders',
    });
    expect(config.groups[0]?.quota.publish[0]).toBe(10_000);
    expect(config.topic).toMatchObject({ path: '/from-env' });
  });

  test('with another kind of topic replaces the whole topic of the file', () => {
    const env = { QUOTAMESH_TOPIC_KIND: 'kafka', QUOTAMESH_TOPIC_BROKERS: 'a:1, b:2' };
    expect(resolve(env).topic).toMatchObject({ kind: 'kafka', brokers: ['a:1', 'b:2'], name: 'quotamesh-reports' });
    expect(resolve({ QUOTAMESH_TOPIC_KIND: 'embedded' }).topic).toMatchObject({ path: '/from-file' });
    expect(resolve({ QUOTAMESH_TOPIC_KIND: 'memory' }, {}, { ...RAW, topic: 'embedded' }).topic.kind).toBe('memory');
  });

  test('gives secrets directly or by file, whichever way the file gives them', () => {
    const sasl = { mechanism: 'plain', username: 'u' };
    const topic = { kind: 'kafka', brokers: ['a:1'] };
    const withPassword = { ...RAW, topic: { ...topic, sasl: { ...sasl, password: 'from-yaml' } } };
    const withFile = { ...RAW, topic: { ...topic, sasl: { ...sasl, password: { file: '/absent' } } } };
    const byFile = resolve({ QUOTAMESH_TOPIC_SASL_PASSWORD_FILE: '/run/password' }, {}, withPassword);
    expect(byFile.topic).toMatchObject({ sasl: { ...sasl, password: 'from-a-file' } });
    const direct = resolve({ QUOTAMESH_TOPIC_SASL_PASSWORD: 'from-env' }, {}, withFile);
    expect(direct.topic).toMatchObject({ sasl: { ...sasl, password: 'from-env' } });
  });

  test('may hold empty variables, and what Kubernetes puts there for a Service', () => {
    const links = {
      QUOTAMESH_SERVICE_HOST: '10.0.0.1',
      QUOTAMESH_SERVICE_PORT_HTTP: '7070',
      QUOTAMESH_PORT: 'tcp://10.0.0.1:7070',
      QUOTAMESH_PORT_7070_TCP_ADDR: '10.0.0.1',
      QUOTAMESH_HTTP_PORT: 'tcp://10.0.0.1:7070',
      QUOTAMESH_NODE: '',
    };
    expect(resolve(links)).toMatchObject({ nodeId: 'from-file', http: { port: 8000 } });
  });

  test('does not hide what is wrong with the shape of the file', () => {
    expect(reportOf({ QUOTAMESH_HTTP_PORT: '1' }, {}, { ...RAW, http: 7070 })).toHaveLength(1);
  });
});

describe('flags', () => {
  test.each(['', 'host', 'host:', ':80', 'a:b:80', 'host:123456', '[::1:80'])('--http %j is refused', (http) => {
    expect(reportOf({}, { http })[0]).toMatch(/^command line: --http must be HOST:PORT, PORT or unix:PATH, got /);
  });

  test('--http unix:PATH is a socket, and --http PORT takes the place of one', () => {
    expect(resolve({}, { http: 'unix:/run/q.sock' })).toMatchObject({ http: { socket: '/run/q.sock', port: 8000 } });
    expect(resolve({ QUOTAMESH_HTTP_SOCKET: '/run/q.sock' }, { http: '81' })).toMatchObject({
      http: { socket: null, port: 81 },
    });
    expect(reportOf({}, { http: 'unix:q.sock' })).toEqual([
      expect.stringMatching(/^--http: http.socket must be an absolute path/),
    ]);
    expect(reportOf({}, { mqtt: 'unix:/run/q.sock' })[0]).toMatch(/--mqtt must be HOST:PORT or PORT/);
  });
});

test('an uncaught mistake prints each sentence once, and no list of all variables', () => {
  const error = (() => {
    try {
      return resolve({ QUOTAMESH_ZEBRA: '1' });
    } catch (thrown) {
      return thrown;
    }
  })();
  const printed = inspect(error);
  expect(printed.split('QUOTAMESH_ZEBRA is not a known variable')).toHaveLength(2);
  expect(printed).not.toContain('QUOTAMESH_CLUSTER');
});
