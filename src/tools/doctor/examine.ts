import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { PACKAGE_ROOT } from '../../base/package/package-root.js';
import { type LoadOptions, loadConfig } from '../../config/files/load-config.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { isStrictGroup } from '../../config/resolved/strict-quota.js';
import { strictUses, strictUseText } from '../../config/resolved/strict-used.js';
import { kindOf } from '../../config/schema/topic-kinds.js';
import type { Finding, Log } from '../../config/setting/topic-kind.js';
import { good, looked, noted, skipped, wrong } from '../../topic/findings/finding.js';
import { folderFinding } from '../../topic/findings/folder-finding.js';
import { ask } from '../node-client/node-address.js';
import { contentText } from '../terminal/content-text.js';
import { quotaFindings } from './kafka-quota-findings.js';
import { recordsFinding, signatureFindings } from './signature-finding.js';

interface ExamineOptions extends LoadOptions {
  readonly timeoutMs: number;
}

/** Examines what a node needs on this machine, by its need. */
export async function examine({ timeoutMs, ...load }: ExamineOptions): Promise<readonly Finding[]> {
  const config = await loadConfig(load).catch((error: unknown) => wrong('configuration', error));
  if ('state' in config) {
    return [nodeJsFinding(), config, skipped('everything else', 'not looked at: the configuration says what it is')];
  }
  const own = Promise.all([...listeners(config, timeoutMs), ...folders(config, timeoutMs)]);
  const [here, topic] = await Promise.all([own, topicFindings(config, timeoutMs)]);
  const first = [nodeJsFinding(), good('configuration', `${load.file} is valid: ${contentText(config)}`)];
  const shallow = strictUses(config).filter(({ deeperBurst }) => deeperBurst !== null);
  return [...first, ...shallow.map((use) => noted('burst', strictUseText(use))), ...here.flat(), ...topic];
}

function listeners({ http, mqtt, envoy }: ResolvedConfig, timeoutMs: number): Promise<readonly Finding[]>[] {
  const own =
    http.socket === null
      ? looked('http', timeoutMs, () => listenerFinding('http', http, timeoutMs))
      : looked('http', timeoutMs, () => folderFinding('http', dirname(http.socket as string)));
  const { listen, tls } = envoy;
  return [
    own,
    ...(mqtt.rules.length === 0 ? [] : [looked('mqtt', timeoutMs, () => listenerFinding('mqtt', mqtt, timeoutMs))]),
    ...(listen === null
      ? []
      : [looked('envoy', timeoutMs, () => listenerFinding('envoy', { ...listen, tls }, timeoutMs))]),
  ];
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
  const { cluster, topic, registry, kafkaQuotas } = config;
  const hasKeeper = kafkaQuotas.entities.length > 0;
  const logs: Log[] = ['reports'];
  if (registry.enabled) logs.push('registry');
  if (config.groups.some(isStrictGroup)) logs.push('strict');
  if (hasKeeper) logs.push('kafka-quotas');
  const { examine: examineTopic, hasCodecs } = kindOf(topic.kind);
  const examined = await examineTopic(topic, { cluster, logs, timeoutMs });
  const isKept = examined.isAnswered && topic.kind === 'kafka' && hasKeeper;
  const findings = [...examined.findings, ...(isKept ? await quotaFindings(config, topic, timeoutMs) : [])];
  if (!examined.hasReports) return findings;
  const isSigned = topic.kind !== 'none' && topic.hmac !== null;
  const records =
    hasCodecs && !isSigned
      ? looked('records', 2 * timeoutMs, () => recordsFinding(config, timeoutMs))
      : looked('signatures', 2 * timeoutMs, () => signatureFindings(config, timeoutMs));
  return [...findings, ...(await records)];
}

interface Address {
  readonly host: string;
  readonly port: number;
  readonly tls: object | null;
}

/** Tries to listen at an address, and leaves it. */
async function listenerFinding(
  about: 'http' | 'mqtt' | 'envoy',
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
  return wrong(about, new QuotameshError('ADDRESS_IN_USE', { address, reason: refusal.message }));
}

function refusalOf(address: Omit<Address, 'tls'>): Promise<NodeJS.ErrnoException | null> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(address, () => server.close(() => resolve(null)));
  });
}

/** Detects a node in half the time: silent programs are reported. Trusts any certificate: no secret is sent. */
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
