import { constants, readFileSync } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { PACKAGE_ROOT } from '../../base/package/package-root.js';
import { type LoadOptions, loadConfig } from '../../config/files/load-config.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { hasReports } from '../../topic/embedded/topic-folder.js';
import type { RedisTopicConfig } from '../../topic/redis/kind.js';
import { reasonOf } from '../../topic/remote/topic-unusable.js';
import { ask } from '../node-client/node-address.js';
import { contentText } from '../terminal/content-text.js';
import { type Finding, good, looked, noted, skipped, wrong } from './finding.js';
import { kafkaFindings } from './kafka-findings.js';
import { recordsFinding, signatureFindings } from './signature-finding.js';

interface ExamineOptions extends LoadOptions {
  readonly timeoutMs: number;
}

/** Examines all that such a node needs on this machine, in the order of its need. */
export async function examine({ timeoutMs, ...load }: ExamineOptions): Promise<readonly Finding[]> {
  const config = await loadConfig(load).catch((error: unknown) => wrong('configuration', error));
  if ('state' in config) {
    return [nodeJsFinding(), config, skipped('everything else', 'not looked at: the configuration says what it is')];
  }
  const own = Promise.all([...listeners(config, timeoutMs), ...folders(config, timeoutMs)]);
  const [here, topic] = await Promise.all([own, topicFindings(config, timeoutMs)]);
  const records = await recordsOf(config, topic, timeoutMs);
  const first = [nodeJsFinding(), good('configuration', `${load.file} is valid: ${contentText(config)}`)];
  return [...first, ...here.flat(), ...topic, ...records];
}

function listeners({ http, mqtt }: ResolvedConfig, timeoutMs: number): Promise<readonly Finding[]>[] {
  const own =
    http.socket === null
      ? looked('http', timeoutMs, () => listenerFinding('http', 'HTTP_ADDRESS_IN_USE', http, timeoutMs))
      : looked('http', timeoutMs, () => folderFinding('http', dirname(http.socket as string)));
  if (mqtt.rules.length === 0) return [own];
  return [own, looked('mqtt', timeoutMs, () => listenerFinding('mqtt', 'MQTT_ADDRESS_IN_USE', mqtt, timeoutMs))];
}

function folders({ log, start }: ResolvedConfig, timeoutMs: number): Promise<readonly Finding[]>[] {
  const files = [
    ['log of decisions', log.decisionsFile],
    ['start.file', start.file],
  ] as const;
  return files.flatMap(([about, file]) =>
    file === null ? [] : [looked(about, timeoutMs, () => folderFinding(about, dirname(file)))],
  );
}

async function topicFindings(config: ResolvedConfig, timeoutMs: number): Promise<readonly Finding[]> {
  const { topic } = config;
  switch (topic.kind) {
    case 'none':
      return [noted('topic', `none: each of ${topic.nodeCount} nodes takes its part of every quota, used or not`)];
    case 'memory':
      return [noted('topic', 'in the memory of one process: nodes of other processes are not seen')];
    case 'embedded':
      return looked('topic', timeoutMs, async () => {
        const { openToOthers } = await import('../../topic/embedded/private-folder.js');
        const { loadLmdb } = await import('../../topic/embedded/load-lmdb.js');
        await loadLmdb();
        const folder = await folderFinding('topic', topic.path);
        if (folder.state !== 'good') return folder;
        const mistake = await networkMistake(topic.path);
        if (mistake !== null) return wrong('topic', mistake);
        const open = await openToOthers(topic.path);
        return open === null ? folder : noted('topic', `${folder.says}; ${open}`);
      });
    case 'kafka':
      return kafkaFindings(config, topic, timeoutMs);
    case 'redis':
      return looked('topic', timeoutMs, () => redisFinding(config.cluster, topic, timeoutMs));
  }
}

/** Examines what was written; nothing where the topic is missing or wrong. */
async function recordsOf(config: ResolvedConfig, found: readonly Finding[], timeoutMs: number) {
  const { topic } = config;
  const about = topic.kind === 'kafka' ? `topic ${topic.name}` : 'topic';
  const isSound = found.every((each) => each.about !== about || each.state !== 'wrong');
  const isThere =
    topic.kind === 'embedded'
      ? await hasReports(topic.path)
      : found.some((each) => each.about === about && each.state === 'good');
  if (!isSound || !isThere) return [];
  if (topic.kind === 'kafka' && topic.hmac === null) {
    return looked('records', 2 * timeoutMs, () => recordsFinding(config, timeoutMs));
  }
  return looked('signatures', 2 * timeoutMs, () => signatureFindings(config, timeoutMs));
}

/** Checks a folder; nodes make a missing one if its parent is writable. */
async function folderFinding(about: string, path: string): Promise<Finding> {
  const there = await nearestThere(path);
  try {
    await access(there, constants.W_OK | constants.X_OK);
    // root may also enter what is no folder.
    if (!(await stat(there)).isDirectory()) throw new Error(`${there} is no folder`);
  } catch (error) {
    return wrong(about, new QuotameshError('FILE_UNWRITABLE', { path, reason: (error as Error).message }));
  }
  return good(about, there === path ? `${path} can be written` : `${path} can be made in ${there}`);
}

/** Linux numbers of NFS, SMB (two) and Ceph, where LMDB's locks fail. */
const NETWORK = new Set([0x6969, 0xff534d42, 0xfe534d42, 0x00c36400]);

/** Describes a network folder, whose processes cannot share a map; null = none. */
async function networkMistake(path: string): Promise<QuotameshError | null> {
  const { type } = await statfs(await nearestThere(path));
  if (!NETWORK.has(type)) return null;
  const reason = 'it lies on a network file system, where locks of processes do not hold; use a local disk';
  return new QuotameshError('TOPIC_SETTINGS', { topic: path, reason });
}

async function nearestThere(path: string): Promise<string> {
  const isThere = await stat(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
  );
  return isThere || dirname(path) === path ? path : nearestThere(dirname(path));
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly tls: object | null;
}

/** Tries to listen at an address, and leaves it. */
async function listenerFinding(
  about: 'http' | 'mqtt',
  code: 'HTTP_ADDRESS_IN_USE' | 'MQTT_ADDRESS_IN_USE',
  { host, port, tls }: Address,
  timeoutMs: number,
): Promise<Finding> {
  const address = `${host}:${port}`;
  if (port === 0) return good(about, `${host}, at any free port`);
  const refusal = await refusalOf({ host, port });
  if (refusal === null) return good(about, `${address} is free`);
  if (refusal.code === 'EADDRINUSE' && about === 'http' && (await isNode({ host, port, tls }, timeoutMs))) {
    return noted(about, `a node listens at ${address} already; another one needs another --http HOST:PORT`);
  }
  return wrong(about, new QuotameshError(code, { address, reason: refusal.message }));
}

function refusalOf(address: Omit<Address, 'tls'>): Promise<NodeJS.ErrnoException | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(address, () => server.close(() => resolve(null)));
  });
}

/** Detects a node within half of the time, to report silent programs as such. Trusts any certificate: no secret is sent. */
async function isNode({ host, port, tls }: Address, timeoutMs: number): Promise<boolean> {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const url = new URL(`${tls === null ? 'http' : 'https'}://${name}:${port}`);
  const asked = { url, token: null, tls: { rejectUnauthorized: false } };
  try {
    const { text } = await ask(asked, { method: 'GET', path: '/livez', timeoutMs: timeoutMs / 2 });
    return JSON.parse(text).alive === true;
  } catch {
    return false;
  }
}

export function nodeJsFinding(found = process.versions.node, wanted = nodeJsWanted()): Finding {
  const isOld = found.localeCompare(wanted, 'en', { numeric: true }) < 0;
  if (isOld) return wrong('Node.js', new QuotameshError('NODE_JS_OLD', { found, wanted }));
  return good('Node.js', `${found}; ${wanted} or newer is needed`);
}

/** Reads the Node.js version of package.json, without its sign. */
export function nodeJsWanted(): string {
  const { engines } = JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8'));
  return String(engines.node).replace(/^>=\s*/, '');
}

/** Checks Redis as a node would: connects, authenticates, tries all it sends; opens no log. */
export async function redisFinding(cluster: string, topic: RedisTopicConfig, timeoutMs: number): Promise<Finding> {
  const { TopicLink } = await import('../../topic/redis/topic-link.js');
  const { redisTopicOptions } = await import('../../topic/redis/redis-topic-options.js');
  const { redisUnusable } = await import('../../topic/redis/redis-failure.js');
  const where = topic.addresses.join(', ');
  const connectionTimeoutMs = Math.min(topic.connectionTimeoutMs, timeoutMs);
  const options = redisTopicOptions(cluster, 'reports', { ...topic, connectionTimeoutMs }, {});
  const link = new TopicLink(options);
  link.ended.catch(() => undefined);
  try {
    await link.connect();
    return good('topic', `Redis at ${where} answers, is a master, and lets this user do all that a node does`);
  } catch (error) {
    const unreachable = { topic: options.topic, reason: `${where}: ${reasonOf(error)}` };
    const unusable = redisUnusable(error, options.topic);
    return wrong('topic', unusable ?? new QuotameshError('TOPIC_UNREACHABLE', unreachable));
  } finally {
    link.destroy(new Error('seen'));
  }
}
