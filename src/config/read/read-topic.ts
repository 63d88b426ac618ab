import { resolve } from 'node:path';
import { isMapping } from '../../input/mapping.js';
import { SETTINGS, type TopicKind } from '../schema/all-settings.js';
import { HMAC_FILE_SETTINGS, HMAC_KEY_LENGTH_MIN } from '../schema/hmac.js';
import { notAMapping, readSection, valuesOf } from '../schema/read-section.js';
import { SASL_SETTINGS, saslWay, tokenEndpointProblem } from '../schema/sasl.js';
import { FILE_SETTINGS } from '../schema/topic.js';
import type { Findings } from '../setting/findings.js';
import { type Section, type SettingRows, sectionOfRows, soundPart } from '../setting/section.js';
import { allowedText } from '../setting/setting-text.js';
import { valueAt } from '../setting/setting-value.js';
import type { SettingValues } from './read-node.js';
import { type FileContext, readTextSetting } from './read-text-setting.js';

export interface TopicContext extends FileContext {
  readonly nodeId: unknown;
}

/** The topic's settings under their YAML paths; `topic.path` absolute, secrets read from their files. */
export function readTopic(topic: unknown, findings: Findings, context: TopicContext): SettingValues {
  if (topic !== undefined && topic !== null && !isMapping(topic)) {
    findings.add(['topic'], notAMapping(KIND_KEYS, topic));
    return new Map();
  }
  const { kind } = soundPart(KIND, { kind: topic?.kind }) as { kind: TopicKind | undefined };
  if (kind === undefined) {
    // What else stands there cannot be judged without the kind.
    readSection(findings, KIND, ['topic'], { kind: topic?.kind });
    return new Map();
  }
  const values = new Map(valuesOf(KINDS[kind], readSection(findings, KINDS[kind], ['topic'], topic)));
  values.set('kind', kind);
  if (kind === 'none') requireKey(values, 'nodeCount', 'with kind none', findings);
  if (kind === 'embedded') values.set('path', resolve(context.folder, String(values.get('path'))));
  for (const key of FILE_SETTINGS) readTextSetting(values, { section: 'topic', key }, findings, context);
  if (kind !== 'none') completeHmac(values, findings);
  if (kind === 'kafka' || kind === 'redis') completeRemote(values, topic, findings);
  if (kind === 'kafka') completeKafka(values, topic, findings, context);
  if (kind === 'redis') completeRedis(values, findings);
  return new Map([...values].map(([key, value]) => [`topic.${key}`, value]));
}

const KIND_KEYS = Object.keys(SETTINGS.topic.rows);

const KIND = sectionOfRows(SETTINGS.topic.rows);

const KINDS: Readonly<Record<TopicKind, Section>> = {
  none: sectionOfRows({ ...SETTINGS.topic.rows, ...SETTINGS.none.rows }),
  memory: sectionOfRows({ ...SETTINGS.topic.rows, ...SETTINGS.memory.rows, ...SETTINGS.hmac.rows }),
  embedded: sectionOfRows({ ...SETTINGS.topic.rows, ...SETTINGS.embedded.rows, ...SETTINGS.hmac.rows }),
  kafka: sectionOfRows({ ...SETTINGS.topic.rows, ...SETTINGS.kafka.rows, ...SETTINGS.hmac.rows }),
  redis: sectionOfRows({ ...SETTINGS.topic.rows, ...SETTINGS.redis.rows, ...SETTINGS.hmac.rows }),
};

/** What the stores on other machines have in common. */
function completeRemote(values: Map<string, unknown>, topic: unknown, findings: Findings): void {
  if (values.get('tls.enabled') === false && valueAt(topic, 'tls.enabled') === undefined) {
    values.set('tls.enabled', isMapping(valueAt(topic, 'tls')));
  }
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
  if (isMapping(valueAt(topic, 'sasl'))) completeSasl(values, findings, context);
  if (values.get('replicationFactor') === 0) {
    const { remedy = '' } = SETTINGS.kafka.rows.replicationFactor as { remedy?: string };
    findings.add(['topic', 'replicationFactor'], { problem: 'must not be 0', allowed: '-1, or 1 to 32', remedy });
  }
}

function completeSasl(values: Map<string, unknown>, findings: Findings, context: TopicContext): void {
  const file = values.get('sasl.tokenFile');
  const { needs, takes } = saslWay(values.get('sasl.mechanism'), typeof file === 'string');
  const given = Object.keys(SASL_SETTINGS).filter((key) => typeof values.get(key) === 'string');
  const rest = given.filter((key) => key !== 'sasl.mechanism' && ![...needs, ...takes].some((known) => known === key));
  const mechanism = String(values.get('sasl.mechanism'));
  for (const key of needs) requireKey(values, key, 'with sasl', findings);
  for (const key of values.get('sasl.mechanism') === null ? [] : rest) {
    const allowed = `with ${mechanism}: ${[...needs, ...takes].join(', ')}`;
    const problem = `means nothing with sasl.mechanism ${mechanism}${file ? ' and sasl.tokenFile' : ''}`;
    findings.add(['topic', ...key.split('.')], { problem, allowed, remedy: 'Remove it.' });
  }
  if (typeof file === 'string') values.set('sasl.tokenFile', resolve(context.folder, file));
  const endpoint = values.get('sasl.tokenEndpoint');
  const problem = typeof endpoint === 'string' ? tokenEndpointProblem(endpoint) : null;
  if (problem === null) return;
  const remedy = 'Give the https URL of the token endpoint.';
  findings.add(['topic', 'sasl', 'tokenEndpoint'], { problem, allowed: 'an https URL without credentials', remedy });
}

function completeHmac(values: Map<string, unknown>, findings: Findings): void {
  const keys = HMAC_FILE_SETTINGS.map((key) => [key, values.get(key)] as const);
  const given = keys.filter((entry): entry is [(typeof entry)[0], string] => typeof entry[1] === 'string');
  for (const [key, text] of given) {
    if (key !== 'hmac.key') requireKey(values, 'hmac.key', `with ${key}`, findings);
    const isTwice = given.some(([other, same]) => other !== key && same === text);
    const problem =
      text.length < HMAC_KEY_LENGTH_MIN ? `must have at least ${HMAC_KEY_LENGTH_MIN} characters` : 'is given twice';
    if (text.length >= HMAC_KEY_LENGTH_MIN && !isTwice) continue;
    const { remedy = '' } = SETTINGS.hmac.rows[key] as { remedy?: string };
    const allowed = `a text of at least ${HMAC_KEY_LENGTH_MIN} characters, another one for each key`;
    findings.add(['topic', ...key.split('.')], { problem, allowed, remedy });
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
  const { none, kafka, redis, hmac } = SETTINGS;
  const rows: SettingRows = { ...none.rows, ...kafka.rows, ...redis.rows, ...hmac.rows };
  const setting = rows[key]!;
  const remedy = setting.remedy ?? `Add it: ${allowedText(setting)}.`;
  findings.add(['topic', ...key.split('.')], { problem: `is required ${when}`, allowed: allowedText(setting), remedy });
}
