import { isMapping } from '../../base/input/mapping.js';
import { HMAC_KEY_LENGTH_MIN, HMAC_KEYS, type HmacSettings } from '../schema/hmac.js';
import { notAMapping, readSection } from '../schema/read-section.js';
import { ANY_TOPIC, kindOf, TOPIC_KINDS, type TopicKind, type TopicSettings } from '../schema/topic-kinds.js';
import type { Findings } from '../setting/findings.js';
import { rowsOf, type Section, soundPart } from '../setting/section.js';
import { allowedText } from '../setting/setting-text.js';
import { valueAt } from '../setting/setting-value.js';
import type { Sound, TextsRead } from '../setting/text-file.js';
import type { KindMistakes } from '../setting/topic-kind.js';
import { type FileContext, readTexts } from './read-texts.js';

interface TopicContext extends FileContext {
  readonly nodeId: unknown;
}

/** The settings of each kind of topic, told apart by `kind`; secrets are read from their files. */
export type ReadTopic = { [Kind in TopicKind]: OfKind<Kind> }[TopicKind];

type OfKind<Kind extends TopicKind> = Omit<TextsRead<TopicSettings<Kind>>, 'kind'> & { readonly kind: Kind };

/** Fields with a mistake are absent; null where not even the kind is known. */
type SoundTopic = { [Kind in TopicKind]: Omit<Sound<OfKind<Kind>>, 'kind'> & { readonly kind: Kind } }[TopicKind];

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
  const { complete = (read) => read, check } = kindOf(kind);
  const topic = complete(readOfKind(kind, written, findings, context), { ...context, written }) as SoundTopic;
  const mistakes = mistakesOf(topic, findings);
  if (topic.kind !== 'none') checkHmac(topic.hmac, mistakes);
  check?.(topic, mistakes, written);
  return topic;
}

function readOfKind(kind: TopicKind, written: unknown, findings: Findings, context: FileContext) {
  const schema: Section = TOPIC_KINDS[kind];
  const { read } = readTexts(schema, readSection(findings, schema, ['topic'], written), ['topic'], findings, context);
  return { ...(read as object), kind };
}

function mistakesOf(topic: SoundTopic, findings: Findings): KindMistakes {
  const rows = rowsOf(TOPIC_KINDS[topic.kind]);
  const remedyOf = (key: string) => rows[key]?.remedy ?? '';
  return {
    remedyOf,
    add: (path, finding) => findings.add(['topic', ...path], finding),
    require: (key, when) => {
      if (valueAt(topic, key) !== null) return;
      const allowed = allowedText(rows[key]);
      const remedy = remedyOf(key) || `Add it: ${allowed}.`;
      findings.add(['topic', ...key.split('.')], { problem: `is required ${when}`, allowed, remedy });
    },
  };
}

function checkHmac(hmac: Sound<TextsRead<HmacSettings>>, mistakes: KindMistakes): void {
  const texts = HMAC_KEYS.map((key) => hmac[key]);
  for (const [index, key] of HMAC_KEYS.entries()) {
    const text = texts[index];
    if (typeof text !== 'string') continue;
    if (key !== 'key') mistakes.require('hmac.key', `with hmac.${key}`);
    const isShort = text.length < HMAC_KEY_LENGTH_MIN;
    if (!isShort && texts.filter((other) => other === text).length === 1) continue;
    const problem = isShort ? `must have at least ${HMAC_KEY_LENGTH_MIN} characters` : 'is given twice';
    const allowed = `a text of at least ${HMAC_KEY_LENGTH_MIN} characters, another one for each key`;
    mistakes.add(['hmac', key], { problem, allowed, remedy: mistakes.remedyOf(`hmac.${key}`) });
  }
}
