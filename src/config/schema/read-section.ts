import { type InputMistake, inputMistakes } from '../../base/input/input-mistakes.js';
import { didYouMean } from '../../base/input/nearest-name.js';
import type { ConfigPath, Findings, FoundMistake } from '../setting/findings.js';
import { parseRate, SHORT_UNIT, type TimeUnit } from '../setting/quantity.js';
import { type Section, soundPart } from '../setting/section.js';
import { show } from '../setting/setting-text.js';
import type { Sound } from '../setting/text-file.js';
import { SECTIONS, SETTINGS } from './all-settings.js';
import { SHARED_KINDS } from './topic-kinds.js';

/**
 * Reads the section at `path`, and adds its mistakes to `findings`. Fields with a mistake are absent from the result, so
 * that relations between the others can still be checked.
 */
export function readSection<Value>(
  findings: Findings,
  schema: Section<Value>,
  path: ConfigPath,
  written: unknown,
): Sound<Value> {
  const read = schema.safeParse(written);
  if (read.success) return read.data;
  for (const mistake of inputMistakes(schema, written, read.error.issues)) {
    // To look for what was meant by a word takes 0.1 ms, and a request may have 100,000 of them.
    if (findings.isFull) break;
    addMistake(findings, mistake, [...path, ...mistake.path]);
  }
  return soundPart(schema, written) as Sound<Value>;
}

function addMistake(findings: Findings, mistake: InputMistake, at: ConfigPath): void {
  switch (mistake.kind) {
    case 'told':
      findings.add(at, { problem: mistake.problem, ...(mistake.params as Omit<FoundMistake, 'problem'>) });
      break;
    case 'key-unknown': {
      const { key, known } = mistake;
      findings.add([...at, shownKey(key)], unknownKey(key, known, at), { part: 'key', writtenAt: [...at, key] });
      break;
    }
    case 'not-a-mapping':
      findings.add(at, notAMapping(mistake.known, mistake.got, at));
  }
}

function unknownKey(key: string, known: readonly string[], at: ConfigPath): FoundMistake {
  const allowed = known.join(', ');
  const near =
    gluedRemedy(key) ||
    rateInAnotherUnit(key, known) ||
    didYouMean(key, known) ||
    deeperInGroup(key, at) ||
    elsewhere(key);
  const remedy = foreignRemedy(key) ?? (near || `Known keys here: ${allowed}.`);
  return { problem: 'is not a known key', allowed, remedy, cause: 'key-unknown' };
}

/**
 * Cuts a key at its colon: without a blank behind the colon YAML takes the value, maybe a secret, for a part of the
 * key.
 */
export function shownKey(key: string): string {
  return key.replace(/:.*$/s, ':…');
}

export function gluedRemedy(key: string): string {
  return key.includes(':') ? 'Put a blank behind the colon.' : '';
}

export function notAMapping(known: readonly string[], input: unknown, at: ConfigPath = []): FoundMistake {
  const allowed = `a mapping with the keys ${known.join(', ')}`;
  // Somebody may have written a password here.
  const got = typeof input === 'string' ? 'a text' : show(input);
  return {
    problem: `must be ${allowed}, got ${got}`,
    allowed,
    remedy: rateRemedy(known, input, at) || 'Indent the keys below it.',
  };
}

/** Rewords a rate without its direction or name: `quota: 100`. */
function rateRemedy(known: readonly string[], input: unknown, at: ConfigPath): string {
  if (typeof input !== 'number' && typeof input !== 'string') return '';
  const { amount } = parseRate('rate', input);
  const own = 'messagesPerSecond';
  if (!(amount >= 0) || !(known.includes('publish') || known.includes(own))) return '';
  const rate = `{ ${own}: ${input} }`;
  return `Write it as ${at.at(-1)}: ${known.includes(own) ? rate : `{ publish: ${rate} }`}.`;
}

/** The unit of time of a rate stands behind its amount. */
function rateInAnotherUnit(key: string, known: readonly string[]): string {
  const [, name, unit = ''] = /^(\w+)Per(Minute|Hour|Day)$/.exec(key) ?? [];
  const perSecond = `${name}PerSecond`;
  if (!known.includes(perSecond)) return '';
  return `Write it as ${perSecond}: 5/${SHORT_UNIT[unit.toLowerCase() as TimeUnit]}.`;
}

function foreignRemedy(key: string): string | undefined {
  if (key === '<<') return 'Merge keys are not read: put what groups share below defaults.';
  const foreign = FOREIGN_KEYS.find((row) => row.key === key);
  return foreign && `That is ${foreign.from}'s name; here it is ${foreign.ours} (docs/reference/settings.md).`;
}

/** For a key of a group that stands too far out: all keys below which groups have it. */
function deeperInGroup(key: string, at: ConfigPath): string {
  const outwards = at[0] === 'groups' ? at.slice(2) : at[0] === 'defaults' ? at.slice(1) : null;
  if (outwards === null) return '';
  const parents = new Set<string>();
  for (const known of Object.keys(SETTINGS.group.rows)) {
    const names = known.split('.');
    const depth = names.indexOf(key);
    if (depth > outwards.length && outwards.every((name, index) => name === names[index])) {
      parents.add(names.slice(0, depth).join('.'));
    }
  }
  return parents.size === 0 ? '' : `It belongs below ${[...parents].join(' or ')}.`;
}

/** For a key that exists, but not in this section. */
function elsewhere(key: string): string {
  for (const section of SECTIONS) {
    const found = Object.keys(section.rows).find((known) => known === key || known.split('.')[0] === key);
    if (found === undefined) continue;
    if (section.path === 'topic') return `It belongs to a ${section.title.toLowerCase()}.`;
    if (section === SETTINGS.group) return 'It belongs to a group: put it below groups.<name> or defaults.';
    return section.path === '' ? 'It belongs to the top level.' : `It belongs below ${section.path}.`;
  }
  return '';
}

/** Keys of PIP-82 and of Pulsar, and what stands for them. For messages and docs/reference/settings.md. */
interface ForeignKey {
  readonly key: string;
  readonly from: 'PIP-82' | 'Pulsar';
  readonly ours: string;
  readonly explanation: string;
}

const EVENT_DRIVEN =
  'There is no publish interval: a report is written at once when others would decide otherwise by it, at most every ' +
  '`timing.reportGapMs`; unchanged ones are repeated every `timing.forcedReportMs`; `timing.heartbeatMs` is the sign ' +
  'of life of a node.';

export const FOREIGN_KEYS: readonly ForeignKey[] = [
  {
    key: 'resourceUsagePublishTopicName',
    from: 'PIP-82',
    ours: 'topic.name',
    explanation: 'The name of a compacted Kafka topic (with `topic.kind: kafka`).',
  },
  {
    key: 'resourceUsagePublishToTopic',
    from: 'PIP-82',
    ours: 'topic.kind',
    explanation:
      'Nodes that share a quota always publish. `kind: memory` keeps a node to itself (false); ' +
      `${SHARED_KINDS} shares (true).`,
  },
  {
    key: 'resourceUsagePublishIntervalInSecs',
    from: 'PIP-82',
    ours: 'timing.reportGapMs, timing.forcedReportMs',
    explanation: EVENT_DRIVEN,
  },
  {
    key: 'resourceUsageTransportClassName',
    from: 'Pulsar',
    ours: 'topic.kind',
    explanation: 'Empty (off) is `kind: memory`; the topic transport is `kind: kafka`.',
  },
  {
    key: 'resourceUsageTransportPublishIntervalInSecs',
    from: 'Pulsar',
    ours: 'timing.reportGapMs, timing.forcedReportMs',
    explanation: EVENT_DRIVEN,
  },
  ...['publish', 'dispatch'].flatMap((direction): ForeignKey[] => [
    {
      key: `${direction}RateInMsgs`,
      from: 'Pulsar',
      ours: `quota.${direction}.messagesPerSecond`,
      explanation: 'Absent is unlimited (Pulsar: -1); 0 blocks.',
    },
    {
      key: `${direction}RateInBytes`,
      from: 'Pulsar',
      ours: `quota.${direction}.bytesPerSecond`,
      explanation: 'Absent is unlimited (Pulsar: -1); 0 blocks.',
    },
  ]),
];
