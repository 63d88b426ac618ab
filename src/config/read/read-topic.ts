import { resolve } from 'node:path';
import { isMapping } from '../../base/input/mapping.js';
import { HMAC_KEY_LENGTH_MIN, HMAC_KEYS } from '../schema/hmac.js';
import { notAMapping, readSection, type Sound } from '../schema/read-section.js';
import { saslWay, tokenEndpointProblem } from '../schema/sasl.js';
import type { TextsRead } from '../schema/text-file.js';
import { ANY_TOPIC, TOPIC_KINDS, type TopicKind, type TopicSettings } from '../schema/topic-kinds.js';
import type { Findings } from '../setting/findings.js';
import { rowsOf, type Section, soundPart } from '../setting/section.js';
import { allowedText } from '../setting/setting-text.js';
import { valueAt } from '../setting/setting-value.js';
import { type FileContext, readTexts } from './read-texts.js';

export interface TopicContext extends FileContext {
  readonly nodeId: unknown;
}

/** The settings of each kind of topic, told apart by `kind`; secrets are read from their files. */
export type ReadTopic = { [Kind in TopicKind]: OfKind<Kind> }[TopicKind];

export type OfKind<Kind extends TopicKind> = Omit<TextsRead<TopicSettings<Kind>>, 'kind'> & { readonly kind: Kind };

/** Fields with a mistake are absent; null where not even the kind is known. */
export type SoundTopic = { [Kind in TopicKind]: SoundOfKind<Kind> }[TopicKind];

type SoundOfKind<Kind extends TopicKind> = Omit<Sound<OfKind<Kind>>, 'kind'> & { readonly kind: Kind };

export function readTopic(written: unknown, findings: Findings, context: TopicContext): SoundTopic | null {
  if (written !== undefined && written !== null && !isMapping(written)) {
    findings.add(['topic'], notAMapping(['kind'], written));
    return null;
  }
  const { kind } = soundPart(ANY_TOPIC, { kind: written?.kind }) as { kind: TopicKind | undefined };
  if (kind === undefined) {
    // The other keys cannot be judged without the kind.
    readSection(findings, ANY_TOPIC, ['topic'], { kind: written?.kind });
    return null;
  }
  const topic = completed(readOfKind(kind, written, findings, context), written, context);
  check(topic, written, findings);
  return topic;
}

function readOfKind(kind: TopicKind, written: unknown, findings: Findings, context: FileContext): SoundTopic {
  const schema: Section = TOPIC_KINDS[kind];
  const { read } = readTexts(schema, readSection(findings, schema, ['topic'], written), ['topic'], findings, context);
  return { ...(read as object), kind } as SoundTopic;
}

/** Fills in what follows from other settings if it is not written. */
function completed(topic: SoundTopic, written: unknown, { folder, nodeId }: TopicContext): SoundTopic {
  switch (topic.kind) {
    case 'embedded':
      return { ...topic, path: resolve(folder, String(topic.path)) };
    case 'redis':
      return { ...topic, tls: withEnabled(topic.tls, written) };
    case 'kafka': {
      const { clientId, sasl } = topic;
      const tokenFile = typeof sasl.tokenFile === 'string' ? resolve(folder, sasl.tokenFile) : sasl.tokenFile;
      return {
        ...topic,
        clientId: clientId === null ? `quotamesh-${nodeId}`.slice(0, 128) : clientId,
        tls: withEnabled(topic.tls, written),
        sasl: { ...sasl, tokenFile },
      };
    }
    default:
      return topic;
  }
}

/** TLS is on if any of its keys is written, unless `tls.enabled` says otherwise. */
function withEnabled<Tls extends { readonly enabled: boolean | undefined }>(tls: Tls, written: unknown): Tls {
  const isAsked = tls.enabled === false && valueAt(written, 'tls.enabled') === undefined;
  return isAsked ? { ...tls, enabled: isMapping(valueAt(written, 'tls')) } : tls;
}

function check(topic: SoundTopic, written: unknown, findings: Findings): void {
  if (topic.kind === 'none') {
    requireKey(topic, 'nodeCount', 'with kind none', findings);
    return;
  }
  checkHmac(topic, findings);
  if (topic.kind !== 'kafka' && topic.kind !== 'redis') return;
  const { key, cert } = topic.tls;
  if (typeof key === 'string') requireKey(topic, 'tls.cert', 'with tls.key', findings);
  if (typeof cert === 'string') requireKey(topic, 'tls.key', 'with tls.cert', findings);
  if (topic.kind === 'redis') {
    checkRedis(topic, findings);
    return;
  }
  checkKafka(topic, findings);
  if (isMapping(valueAt(written, 'sasl'))) checkSasl(topic, findings);
}

function checkHmac(topic: Exclude<SoundTopic, { kind: 'none' }>, findings: Findings): void {
  const texts = HMAC_KEYS.map((key) => topic.hmac[key]);
  for (const [index, key] of HMAC_KEYS.entries()) {
    const text = texts[index];
    if (typeof text !== 'string') continue;
    if (key !== 'key') requireKey(topic, 'hmac.key', `with hmac.${key}`, findings);
    const isShort = text.length < HMAC_KEY_LENGTH_MIN;
    if (!isShort && texts.filter((other) => other === text).length === 1) continue;
    const problem = isShort ? `must have at least ${HMAC_KEY_LENGTH_MIN} characters` : 'is given twice';
    const allowed = `a text of at least ${HMAC_KEY_LENGTH_MIN} characters, another one for each key`;
    findings.add(['topic', 'hmac', key], { problem, allowed, remedy: remedyOf(topic.kind, `hmac.${key}`) });
  }
}

function checkKafka(topic: SoundOfKind<'kafka'>, findings: Findings): void {
  requireKey(topic, 'brokers', 'with kind kafka', findings);
  if (topic.replicationFactor === 0) {
    const remedy = remedyOf('kafka', 'replicationFactor');
    findings.add(['topic', 'replicationFactor'], { problem: 'must not be 0', allowed: '-1, or 1 to 32', remedy });
  }
}

function checkSasl(topic: SoundOfKind<'kafka'>, findings: Findings): void {
  const { mechanism, ...others } = topic.sasl;
  const { tokenFile, tokenEndpoint } = others;
  const { needs, takes } = saslWay(mechanism, typeof tokenFile === 'string');
  for (const key of needs) requireKey(topic, `sasl.${key}`, 'with sasl', findings);
  const given = Object.entries(others).filter(([, value]) => typeof value === 'string');
  const rest = given.filter(([key]) => ![...needs, ...takes].includes(key));
  for (const [key] of mechanism === null ? [] : rest) {
    const allowed = `with ${mechanism}: ${[...needs, ...takes].map((known) => `sasl.${known}`).join(', ')}`;
    const problem = `means nothing with sasl.mechanism ${mechanism}${tokenFile ? ' and sasl.tokenFile' : ''}`;
    findings.add(['topic', 'sasl', key], { problem, allowed, remedy: 'Remove it.' });
  }
  const problem = typeof tokenEndpoint === 'string' ? tokenEndpointProblem(tokenEndpoint) : null;
  if (problem === null) return;
  const remedy = 'Give the https URL of the token endpoint.';
  findings.add(['topic', 'sasl', 'tokenEndpoint'], { problem, allowed: 'an https URL without credentials', remedy });
}

function checkRedis(topic: SoundOfKind<'redis'>, findings: Findings): void {
  const { addresses, username, sentinel, tls } = topic;
  requireKey(topic, 'addresses', 'with kind redis', findings);
  if (username !== null) requireKey(topic, 'password', 'with username', findings);
  if (sentinel.username !== null) requireKey(topic, 'sentinel.password', 'with sentinel.username', findings);
  const usesSentinel = sentinel.master !== null;
  if (!usesSentinel && addresses && addresses.length > 1) {
    const problem = `must name one server, got ${addresses.length}`;
    const remedy = 'Name one, or add sentinel.master where they are Sentinels.';
    findings.add(['topic', 'addresses'], { problem, allowed: 'one host:port', remedy });
  }
  for (const key of ['username', 'password'] as const) {
    if (!usesSentinel && sentinel[key] !== null) {
      requireKey(topic, 'sentinel.master', `with sentinel.${key}`, findings);
    }
  }
  if (sentinel.tls === true && tls.enabled === false) {
    const remedy = 'Add `tls: true`, or remove sentinel.tls.';
    findings.add(['topic', 'sentinel', 'tls'], { problem: 'needs topic.tls', allowed: 'false without tls', remedy });
  }
}

function requireKey(topic: SoundTopic, key: string, when: string, findings: Findings): void {
  if (valueAt(topic, key) !== null) return;
  const allowed = allowedText(rowsOf(TOPIC_KINDS[topic.kind])[key]);
  const remedy = remedyOf(topic.kind, key) || `Add it: ${allowed}.`;
  findings.add(['topic', ...key.split('.')], { problem: `is required ${when}`, allowed, remedy });
}

function remedyOf(kind: TopicKind, key: string): string {
  return rowsOf(TOPIC_KINDS[kind])[key]?.remedy ?? '';
}
