import { dirname } from 'node:path';
import { type LoadOptions, loadConfig } from '../../config/files/load-config.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { hasReports } from '../../topic/embedded/topic-folder.js';
import { type Finding, good, looked, noted, skipped, wrong } from './finding.js';
import { folderFinding, networkMistake } from './folder-finding.js';
import { kafkaFindings } from './kafka-findings.js';
import { listenerFinding } from './listener-finding.js';
import { nodeJsFinding } from './node-js-finding.js';
import { redisFinding } from './redis-finding.js';
import { signatureFindings } from './signature-finding.js';

export interface ExamineOptions extends LoadOptions {
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
  const signatures = await signaturesOf(config, topic, timeoutMs);
  const first = [nodeJsFinding(), good('configuration', configText(load.file, config))];
  return [...first, ...here.flat(), ...topic, ...signatures];
}

function configText(file: string, { cluster, groups, keys }: ResolvedConfig): string {
  const templates = keys.templates.length;
  const counts = [
    countOf(groups.length, 'group'),
    ...(templates > 0 ? [countOf(templates, 'pattern of keys', 'patterns of keys')] : []),
  ];
  return `${file} is valid: cluster ${cluster}, ${counts.join(', ')}`;
}

function countOf(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

function listeners({ http, mqtt }: ResolvedConfig, timeoutMs: number): Promise<readonly Finding[]>[] {
  const own =
    http.socket === null
      ? looked('http', timeoutMs, () => listenerFinding('http', 'HTTP_ADDRESS_IN_USE', http, timeoutMs))
      : looked('http', timeoutMs, () => folderFinding('http', dirname(http.socket as string)));
  const isBroker = mqtt.rules.length > 0;
  if (!isBroker) return [own];
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

/** Examines signatures; nothing where the topic is missing or wrong. */
async function signaturesOf(config: ResolvedConfig, found: readonly Finding[], timeoutMs: number) {
  const { topic } = config;
  const about = topic.kind === 'kafka' ? `topic ${topic.name}` : 'topic';
  const isSound = found.every((each) => each.about !== about || each.state !== 'wrong');
  const isThere =
    topic.kind === 'embedded'
      ? await hasReports(topic.path)
      : found.some((each) => each.about === about && each.state === 'good');
  if (!isSound || !isThere) return [];
  return looked('signatures', 2 * timeoutMs, () => signatureFindings(config, timeoutMs));
}
