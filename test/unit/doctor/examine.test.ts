import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { silentTelemetry } from '../../../src/base/ports/telemetry.js';
import { loadConfig } from '../../../src/config/files/load-config.js';
import type { Finding } from '../../../src/config/setting/topic-kind.js';
import { createTopic } from '../../../src/node/loop/open-topics.js';
import { findingLines, findingsExitCode } from '../../../src/tools/cli/config/show-findings.js';
import { examine, nodeJsFinding, nodeJsWanted } from '../../../src/tools/doctor/examine.js';
import { freePorts } from '../../../src/tools/processes/free-ports.js';
import { RecordingListener } from '../../conformance/recording-listener.js';
import { makeAuthority } from '../access/certificates.js';

const PATIENCE_MS = 5000;
const GROUPS = 'groups: { orders: { quota: { publish: { messagesPerSecond: 1000 } } } }\n';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

test('a sound configuration of one machine: nothing is wrong, and nothing was made', async () => {
  const [port] = await freePorts(1);
  const { folder, findings } = await lookAt(`cluster: demo\nhttp: { port: ${port} }\n${GROUPS}`);
  expect(statesOf(findings)).toEqual({ 'Node.js': 'good', configuration: 'good', http: 'good', topic: 'good' });
  expect(findings.at(-1)?.says).toBe(`${folder}/state can be made in ${folder}`);
  expect(findingsExitCode(findings)).toBe(0);
  expect(readdirSync(folder)).toEqual(['node.yaml']);
});

test('a configuration with mistakes: they are told, and what hangs on them is not looked at', async () => {
  const { findings } = await lookAt('cluster: demo\ngroups: { orders: { qouta: 1 } }\n');
  expect(statesOf(findings)).toEqual({ 'Node.js': 'good', configuration: 'wrong', 'everything else': 'skipped' });
  expect(findings[1]).toMatchObject({ code: 'CONFIG_INVALID', says: expect.stringContaining('Did you mean "quota"?') });
  expect(findingsExitCode(findings)).toBe(78);
});

test('a file that is not there', async () => {
  const findings = await examine({ file: '/nowhere/node.yaml', timeoutMs: PATIENCE_MS });
  expect(findings[1]).toMatchObject({ state: 'wrong', code: 'CONFIG_UNREADABLE' });
});

describe('addresses', () => {
  test('somebody else listens there', async () => {
    const port = await listening(createServer((socket) => socket.end('220 a mail server\r\n')));
    const { findings } = await lookAt(`cluster: demo\nhttp: { port: ${port} }\n${GROUPS}`);
    expect(findings[2]).toMatchObject({ about: 'http', state: 'wrong', code: 'ADDRESS_IN_USE' });
    expect(findings[2]?.says).toContain('EADDRINUSE');
    expect(findingsExitCode(findings)).toBe(69);
  });

  test('a node listens there: another one needs another port', async () => {
    const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 14\r\nconnection: close\r\n\r\n{"alive":true}';
    const port = await listening(createServer((socket) => socket.once('data', () => socket.end(answer))));
    const { findings } = await lookAt(`cluster: demo\nhttp: { port: ${port} }\n${GROUPS}`);
    const says = expect.stringContaining('--http HOST:PORT');
    expect(findings[2]).toMatchObject({ about: 'http', state: 'noted', says });
    expect(findingsExitCode(findings)).toBe(0);
  });

  test('a node listens there with TLS, whoever has signed its certificate', async () => {
    const folder = temporaryFolder();
    const pair = await makeAuthority(folder, 'localhost');
    const node = createTlsServer(pair, (_, response) => response.end('{"alive":true}'));
    const port = await listening(node);
    const tls = `tls: { cert: { file: ${pair.certFile} }, key: { file: ${pair.keyFile} } }`;
    const { findings } = await lookAt(`cluster: demo\nhttp: { port: ${port}, ${tls} }\n${GROUPS}`);
    expect(findings[2]).toMatchObject({ about: 'http', state: 'noted' });
  });

  test('of a broker with rules, too; and an address that is none of this machine', async () => {
    const [http] = await freePorts(1);
    const mqtt = 'mqtt: { host: 192.0.2.1, port: 1883, rules: [{ clientId: "*", group: orders }] }\n';
    const { findings } = await lookAt(`cluster: demo\ninsecure: true\nhttp: { port: ${http} }\n${mqtt}${GROUPS}`);
    const found = findings.find(({ about }) => about === 'mqtt');
    expect(found).toMatchObject({ state: 'wrong', code: 'ADDRESS_IN_USE' });
  });
});

test('folders that cannot be written', async () => {
  const { findings } = await lookAt(
    `cluster: demo\nhttp: { port: 0 }\ntopic: { kind: embedded, path: ./node.yaml/state }\n` +
      `log: { decisionsFile: ./node.yaml/decisions.log }\n${GROUPS}`,
  );
  const wrong = findings.filter(({ state }) => state === 'wrong');
  expect(wrong.map(({ about, code }) => [about, code])).toEqual([
    ['log of decisions', 'FILE_UNWRITABLE'],
    ['topic', 'FILE_UNWRITABLE'],
  ]);
});

describe('Kafka', () => {
  test('is not there: what hangs on it is not looked at', async () => {
    const [http, kafka] = await freePorts(2);
    const { findings } = await lookAt(kafkaYaml(http, [kafka]));
    expect(statesOf(findings)).toEqual({
      'Node.js': 'good',
      configuration: 'good',
      http: 'good',
      Kafka: 'wrong',
      'topic quotamesh-reports': 'skipped',
      'topic quotamesh-reports-registry': 'skipped',
    });
    const kafkaFinding = findings.find(({ about }) => about === 'Kafka');
    expect(kafkaFinding).toMatchObject({ code: 'TOPIC_UNREACHABLE', says: expect.stringContaining('ECONNREFUSED') });
    expect(findingsExitCode(findings)).toBe(69);
  });

  test('takes connections and answers nothing: the look ends in time', async () => {
    const [http] = await freePorts(1);
    const kafka = await listening(createServer(() => undefined));
    const beganMs = performance.now();
    const { findings } = await lookAt(kafkaYaml(http, [kafka]), 300);
    const says = expect.stringContaining('did not answer within 300 ms');
    const found = findings.find(({ about }) => about === 'Kafka');
    expect(found).toMatchObject({ state: 'wrong', code: 'TOPIC_UNREACHABLE', says });
    expect(performance.now() - beganMs).toBeLessThan(10_000);
  });
});

test('Redis that takes connections and answers nothing', async () => {
  const [http] = await freePorts(1);
  const redis = await listening(createServer(() => undefined));
  const topic = `topic: { kind: redis, addresses: ["127.0.0.1:${redis}"] }\n`;
  const { findings } = await lookAt(`cluster: demo\nhttp: { port: ${http} }\n${topic}${GROUPS}`, 300);
  expect(findings.at(-1)).toMatchObject({ about: 'topic', state: 'wrong' });
  expect(findingsExitCode(findings)).toBe(69);
});

describe('signatures', () => {
  const hmac = (key: string, more = '') => `hmac: { key: ${key.repeat(32)}${more} }`;
  const yaml = (signed: string) =>
    `cluster: demo\nhttp: { port: 0 }\ntopic: { kind: embedded, path: ./state, ${signed} }\n${GROUPS}`;

  test('nobody signs with the key of this node: told by name, or by what others have instead', async () => {
    const { folder, findings } = await lookAt(yaml(hmac('a')));
    expect(statesOf(findings)).not.toHaveProperty('signatures');
    expect(readdirSync(folder)).toEqual(['node.yaml']);
    const own = await written(folder);
    const look = async (signed: string) => {
      writeFileSync(join(folder, 'node.yaml'), yaml(signed));
      const all = await examine({ file: join(folder, 'node.yaml'), timeoutMs: PATIENCE_MS });
      return all.find(({ about }) => about === 'signatures');
    };
    const says = 'not compared: nobody has written a record yet';
    expect(await look(hmac('a'))).toMatchObject({ state: 'skipped', says });
    for (const key of ['1', '2', '3']) await own.append([{ partition: 0, key, value: Buffer.from(key) }]);
    expect(await look(hmac('a'))).toMatchObject({ state: 'good', says: expect.stringMatching(/\(id [0-9a-f]{8}\)$/) });
    const differs = await look(hmac('b'));
    const remedy = expect.stringContaining('topic.hmac.key');
    expect(differs).toMatchObject({ state: 'wrong', code: 'TOPIC_KEY_DIFFERS', remedy });
    expect(differs?.says).toMatch(/no record .* \(id [0-9a-f]{8}\): 3 unknown-key$/);
    expect(await look(hmac('b', ', verify: warn'))).toMatchObject({ state: 'noted', code: 'TOPIC_KEY_DIFFERS' });
    expect(await look(hmac('b', `, previousKey: ${'a'.repeat(32)}`))).toMatchObject({ state: 'good' });
  });

  async function written(folder: string) {
    const config = await loadConfig({ file: join(folder, 'node.yaml'), env: {} });
    const topic = await createTopic(config, silentTelemetry);
    ends.push(() => topic.close());
    await topic.open(new RecordingListener());
    return topic;
  }
});

test('Node.js: what package.json asks for', () => {
  expect(nodeJsWanted()).toMatch(/^\d+\.\d+$/);
  expect(nodeJsFinding('20.18.3', '20.19')).toMatchObject({ state: 'wrong', code: 'NODE_JS_OLD' });
  expect(nodeJsFinding('18.30.0', '20.19')).toMatchObject({ state: 'wrong' });
  expect(nodeJsFinding('20.19.0', '20.19')).toMatchObject({ state: 'good' });
  expect(nodeJsFinding('22.1.0', '20.19')).toMatchObject({ state: 'good' });
});

test('as text', () => {
  const finding = { code: null, remedy: null, about: 'http', says: '127.0.0.1:7070 is free', state: 'good' } as const;
  const error = { code: 'TOPIC_SETTINGS', remedy: 'Change it.' } as const;
  const wrong = { about: 'topic a', state: 'wrong', says: 'one\ntwo', ...error } as const;
  expect(findingLines([finding, { ...finding, state: 'skipped' }, wrong])).toEqual([
    '✓ http     127.0.0.1:7070 is free',
    '- http     127.0.0.1:7070 is free',
    '✗ topic a  one',
    '           two',
    '           TOPIC_SETTINGS: Change it.',
    '1 of 3 looks found something wrong.',
  ]);
  expect(findingLines([finding]).at(-1)).toBe('Nothing is wrong.');
});

async function lookAt(yaml: string, timeoutMs = PATIENCE_MS) {
  const folder = temporaryFolder();
  const file = join(folder, 'node.yaml');
  writeFileSync(file, yaml);
  return { folder, findings: await examine({ file, timeoutMs }) };
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-doctor-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function kafkaYaml(http: number, brokers: readonly number[]): string {
  const list = brokers.map((port) => `"127.0.0.1:${port}"`).join(', ');
  return `cluster: demo\nhttp: { port: ${http} }\ntopic: { kind: kafka, brokers: [${list}] }\n${GROUPS}`;
}

function statesOf(findings: readonly Finding[]): Record<string, string> {
  return Object.fromEntries(findings.map(({ about, state }) => [about, state]));
}

async function listening(server: Server): Promise<number> {
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as { port: number }).port;
}
