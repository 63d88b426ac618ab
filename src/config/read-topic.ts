import { resolve } from 'node:path';
import { isMapping } from '../mapping.js';
import type { Findings } from './findings.js';
import type { SettingValues } from './read-node.js';
import { type FileContext, readTextSetting } from './read-text-setting.js';
import { checkShape, notAMapping, type Shape, shapeOf } from './setting-schema.js';
import { allowedText } from './setting-text.js';
import { valueAt } from './setting-value.js';
import { SETTINGS, type SettingRows, type TopicKind } from './settings.js';
import { readRows } from './settings-layers.js';
import { FILE_SETTINGS } from './topic-settings.js';

export interface TopicContext extends FileContext {
  readonly nodeId: unknown;
}

/** The topic's settings under their YAML paths; `topic.path` absolute, secrets read from their files. */
export function readTopic(topic: unknown, findings: Findings, context: TopicContext): SettingValues {
  if (topic !== undefined && topic !== null && !isMapping(topic)) {
    findings.add(['topic'], notAMapping(KIND_KEYS, topic));
    return new Map();
  }
  const kind = readRows(SETTINGS.topic.rows, [topic]).get('kind') as TopicKind | undefined;
  if (kind === undefined) {
    // What else stands there cannot be judged without the kind.
    checkShape(findings, shapeOf(SETTINGS.topic.rows), ['topic'], { kind: topic?.kind });
    return new Map();
  }
  checkShape(findings, SHAPES[kind], ['topic'], topic ?? null);
  const values = new Map(readRows(SHAPES[kind].rows, [topic]));
  values.set('kind', kind);
  if (kind === 'none') requireKey(values, 'nodeCount', 'with kind none', findings);
  if (kind === 'embedded') values.set('path', resolve(context.folder, String(values.get('path'))));
  if (kind === 'kafka' || kind === 'redis') completeRemote(values, topic, findings, context);
  if (kind === 'kafka') completeKafka(values, topic, findings, context);
  if (kind === 'redis') completeRedis(values, findings);
  return new Map([...values].map(([key, value]) => [`topic.${key}`, value]));
}

const KIND_KEYS = Object.keys(SETTINGS.topic.rows);

const SHAPES: Readonly<Record<TopicKind, Shape>> = {
  none: shapeOf({ ...SETTINGS.topic.rows, ...SETTINGS.none.rows }),
  memory: shapeOf({ ...SETTINGS.topic.rows, ...SETTINGS.memory.rows }),
  embedded: shapeOf({ ...SETTINGS.topic.rows, ...SETTINGS.embedded.rows }),
  kafka: shapeOf({ ...SETTINGS.topic.rows, ...SETTINGS.kafka.rows }),
  redis: shapeOf({ ...SETTINGS.topic.rows, ...SETTINGS.redis.rows }),
};

/** What the stores on other machines have in common. */
function completeRemote(values: Map<string, unknown>, topic: unknown, findings: Findings, context: TopicContext): void {
  if (values.get('tls.enabled') === false && valueAt(topic, 'tls.enabled') === undefined) {
    values.set('tls.enabled', isMapping(valueAt(topic, 'tls')));
  }
  for (const key of FILE_SETTINGS) readTextSetting(values, { section: 'topic', key }, findings, context);
  for (const [one, other] of [
    ['tls.key', 'tls.cert'],
    ['tls.cert', 'tls.key'],
  ] as const) {
    if (values.get(one) !== null && values.get(one) !== undefined) requireKey(values, other, `with ${one}`, findings);
  }
}

function completeKafka(values: Map<string, unknown>, topic: unknown, findings: Findings, context: TopicContext): void {
  if (values.get('clientId') === null) values.set('clientId', `quotamesh-${context.nodeId}`.slice(0, 128));
  requireKey(values, 'brokers', 'with kind kafka', findings);
  const sasl = ['sasl.mechanism', 'sasl.username', 'sasl.password'];
  if (isMapping(valueAt(topic, 'sasl'))) {
    for (const key of sasl) requireKey(values, key, 'with sasl', findings);
  }
  if (values.get('replicationFactor') === 0) {
    const { remedy = '' } = SETTINGS.kafka.rows.replicationFactor as { remedy?: string };
    findings.add(['topic', 'replicationFactor'], { problem: 'must not be 0', allowed: '-1, or 1 to 32', remedy });
  }
}

function completeRedis(values: Map<string, unknown>, findings: Findings): void {
  requireKey(values, 'addresses', 'with kind redis', findings);
  for (const section of ['', 'sentinel.']) {
    if (values.get(`${section}username`) === null) continue;
    requireKey(values, `${section}password`, `with ${section}username`, findings);
  }
  const addresses = values.get('addresses');
  const usesSentinel = values.get('sentinel.master') !== null;
  if (!usesSentinel && Array.isArray(addresses) && addresses.length > 1) {
    const problem = `must name one server, got ${addresses.length}`;
    const remedy = 'Name one, or add sentinel.master where they are Sentinels.';
    findings.add(['topic', 'addresses'], { problem, allowed: 'one host:port', remedy });
  }
  for (const key of ['sentinel.username', 'sentinel.password']) {
    if (!usesSentinel && values.get(key) !== null) requireKey(values, 'sentinel.master', `with ${key}`, findings);
  }
  if (values.get('sentinel.tls') === true && values.get('tls.enabled') === false) {
    const remedy = 'Add `tls: true`, or remove sentinel.tls.';
    findings.add(['topic', 'sentinel', 'tls'], { problem: 'needs topic.tls', allowed: 'false without tls', remedy });
  }
}

function requireKey(values: SettingValues, key: string, when: string, findings: Findings): void {
  if (values.get(key) !== null) return;
  const rows: SettingRows = { ...SETTINGS.none.rows, ...SETTINGS.kafka.rows, ...SETTINGS.redis.rows };
  const setting = rows[key]!;
  const remedy = setting.remedy ?? `Add it: ${allowedText(setting)}.`;
  findings.add(['topic', ...key.split('.')], { problem: `is required ${when}`, allowed: allowedText(setting), remedy });
}
