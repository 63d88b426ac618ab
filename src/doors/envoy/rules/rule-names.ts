import { createHash } from 'node:crypto';
import { KEY_NAME_MAX } from '../../../core/base/constants.js';
import type { DescriptorEntry } from './descriptor-rules.js';
import { alphabetWith, encodedText } from './encoded-text.js';

/** One level of a rule: its key, and what it says of the value. */
export interface RuleLevel {
  readonly key: string;
  /** '' = every value. */
  readonly value: string;
  /** True = each value has a bucket of its own. */
  readonly isPerValue: boolean;
}

export interface RuleName {
  /** Name of a group, or pattern of a key template. */
  readonly text: string;
  readonly isPattern: boolean;
  /** Names the bucket of a descriptor that the rule has matched. */
  bucketOf(entries: readonly DescriptorEntry[]): string;
}

/**
 * Names a rule's group or template by its domain and levels. Behind a key that has a bucket per
 * value stands `@` and the value, behind others `:` and what is written; nothing, where that is the key again.
 *
 * *Worked:* domain messaging, (message_type, marketing), (to_number): `messaging/message_type:marketing/to_number@{v1}`;
 * (path, /api/*): `edge/path:~2Fapi~2F~2A@{v1}`; Envoy Gateway's (rule-0, rule-0): `eg/rule-0:`.
 *
 * *Why `@`:* no pattern of a rule has names of another one, whatever clients send, so that the most specific rule is
 * found by ratelimit's order alone.
 */
export function ruleName(domain: string, levels: readonly RuleLevel[]): RuleName {
  const at = levels.flatMap(({ isPerValue }, index) => (isPerValue ? [index] : []));
  const heads = headsOf(domain, levels);
  const fields = at.map((_, index) => `{v${index + 1}}`);
  const text = heads.map((head, index) => head + (fields[index] ?? '')).join('');
  if (text.length <= KEY_NAME_MAX) return named(text, heads, at);
  return shortened(text, heads, at);
}

/** Returns the literal texts before each value, and behind the last. */
function headsOf(domain: string, levels: readonly RuleLevel[]): readonly string[] {
  const heads = [];
  let head = encodedText(domain, IN_KEY);
  for (const { key, value, isPerValue } of levels) {
    head += `/${encodedText(key, IN_KEY)}`;
    if (value !== '') head += `:${value === key ? '' : encodedText(value, IN_WRITTEN)}`;
    if (!isPerValue) continue;
    heads.push(`${head}@`);
    head = '';
  }
  return [...heads, head];
}

/** Shortens as key-name.ts shortens keys: the beginning, and the digest of all; values stand behind it. */
function shortened(text: string, heads: readonly string[], at: readonly number[]): RuleName {
  const digest = createHash('sha256').update(text).digest('base64url');
  const fields = at.map((_, index) => `{v${index + 1}}`).join('/');
  const room = KEY_NAME_MAX - `~sha256:${digest}@${fields}`.length;
  const beginning = `${heads.join('').slice(0, room)}~sha256:${digest}`;
  if (at.length === 0) return named(beginning, [beginning], at);
  const others = at.slice(1).map(() => '/');
  return named(`${beginning}@${fields}`, [`${beginning}@`, ...others, ''], at);
}

function named(text: string, heads: readonly string[], at: readonly number[]): RuleName {
  if (at.length === 0) return { text, isPattern: false, bucketOf: () => text };
  const bucketOf = (entries: readonly DescriptorEntry[]) => {
    let name = '';
    for (let index = 0; index < at.length; index++) {
      name += heads[index] + encodedText(entries[at[index]].value, IN_VALUE);
    }
    return name + heads[at.length];
  };
  return { text, isPattern: true, bucketOf };
}

/** Letters of a key, of a written value, and of a value. */
const IN_KEY = alphabetWith('._+-');
const IN_WRITTEN = alphabetWith('._:+-');
const IN_VALUE = alphabetWith('._:@+-');
