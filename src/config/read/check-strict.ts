import { isMapping } from '../../base/input/mapping.js';
import { DIRECTIONS, type Direction } from '../../core/base/vocabulary.js';
import type { AttachmentsConfig } from '../../core/beside/attachments/attachment.js';
import { BUDGET_UNITS } from '../../core/strict/budget-units.js';
import { STRICT_DEPTH_MAX, STRICT_EXACT_PART, strictAmount } from '../resolved/strict-quota.js';
import { GROUP, type GroupSection } from '../schema/groups.js';
import type { MqttRule } from '../schema/mqtt-rules.js';
import { kindOf, type TopicKind } from '../schema/topic-kinds.js';
import type { Findings } from '../setting/findings.js';
import { rowsOf } from '../setting/section.js';
import { valueAt } from '../setting/setting-value.js';
import type { Sound } from '../setting/text-file.js';
import { givenRate, hasRate, type RatesRead, shownRate } from '../setting/written-rate.js';
import type { GroupValues } from './read-groups.js';

/** Parts of the configuration that a strict group cannot stand beside. */
export interface BesideStrict {
  readonly topicKind: TopicKind | undefined;
  readonly limits: Readonly<Record<Direction, RatesRead>>;
  readonly attachments: AttachmentsConfig;
  readonly mqttRules: readonly MqttRule[];
}

/** True = the group limits what a period may spend. */
export function hasBudget({ budget }: Sound<GroupSection>): boolean {
  return BUDGET_UNITS.some((unit) => (budget?.[unit] ?? null) !== null);
}

/** Refuses every setting that a strict group cannot keep. Null = a definition alone, of run time. */
export function checkStrict(groups: GroupValues, findings: Findings, beside: BesideStrict | null): void {
  for (const [name, values] of groups) {
    if (values.promise === 'strict') checkGroup(name, values, findings, beside);
    else if ((values.waitMs ?? null) !== null && (values.concurrency ?? null) === null && !hasBudget(values)) {
      const remedy = 'Remove it, or set promise: strict, concurrency or a budget; a request itself may name waitMs.';
      findings.add(['groups', name, 'waitMs'], {
        problem: 'means nothing to a relaxed group without concurrency or budget',
        allowed: 'none',
        remedy,
      });
    }
  }
}

function checkGroup(name: string, values: Sound<GroupSection>, findings: Findings, beside: BesideStrict | null): void {
  const at = ['groups', name];
  if (beside !== null) checkBeside(name, findings, beside);
  for (const [path, { default: usual }] of ROWS) {
    const value = valueAt(values, path);
    if (KEPT.has(path) || value === undefined || isUsual(value, usual)) continue;
    if (path === 'isolation.policy' && value === 'closed') continue;
    const [, why] = WHY.find(([prefix]) => path.startsWith(prefix)) ?? ['', 'the log alone says who may spend what'];
    findings.add([...at, ...path.split('.')], {
      problem: `cannot be kept by a strict group: ${why}`,
      allowed: 'a quota in messages, a burst, a budget, maxRequest.messages, waitMs and concurrency',
      remedy: 'Remove it here (write null where defaults say it), or set promise: relaxed.',
    });
  }
  checkQuota(name, values, findings);
}

const ROWS = Object.entries(rowsOf(GROUP));

/** Settings that a strict bucket keeps. */
const KEPT: ReadonlySet<string> = new Set([
  'promise',
  'waitMs',
  'concurrency',
  ...BUDGET_UNITS.map((unit) => `budget.${unit}`),
  'budget.per',
  'budget.timezone',
  'budget.carry',
  'budget.warnAt',
  'enabled',
  'quota.publish.messagesPerSecond',
  'quota.dispatch.messagesPerSecond',
  'burst.messages',
  'burst.quotaMs',
  'maxRequest.messages',
]);

/** Setting → reason, for those that somebody may miss. */
const WHY: readonly (readonly [prefix: string, why: string])[] = [
  ['quota.', 'it counts messages alone'],
  ['burst.bytes', 'it counts messages alone'],
  ['burst.start', 'it begins empty where nobody knows it, and else as the log has it'],
  ['burst.policy', 'its burst is there once, for whoever comes first'],
  ['maxRequest.bytes', 'it counts messages alone'],
  ['isolation', 'a node that is cut off has nothing to spend'],
  ['mode', 'a shadow refuses nothing'],
  ['shadow', 'a shadow is kept by reports'],
  ['perTopic', 'levels below the group are not in its log'],
  ['perClient', 'levels below the group are not in its log'],
  ['topics', 'levels below the group are not in its log'],
  ['limiter', 'it has one bucket, and no windows'],
  ['windowMs', 'it has one bucket, and no windows'],
  ['ramp', 'its quota does not climb'],
  ['debtMs', 'nothing is charged afterwards, so there is no debt'],
];

function isUsual(value: unknown, usual: unknown): boolean {
  if (value === null || Object.is(value, usual)) return true;
  // A rate of 0 that is reserved.
  return isMapping(value) && isMapping(usual) && value.amount === usual.amount;
}

function checkQuota(name: string, { quota, burst }: Sound<GroupSection>, findings: Findings): void {
  const rates = DIRECTIONS.map((direction) => [direction, givenRate(quota[direction], 'messages')] as const);
  if (rates.every(([, rate]) => rate === null)) {
    const allowed = 'a quota in messages';
    const remedy = 'Add quota: { publish: { messagesPerSecond: … } }, or remove promise.';
    findings.add(['groups', name, 'promise'], { problem: `strict needs ${allowed}`, allowed, remedy });
  }
  for (const [direction, rate] of rates) {
    if (rate === null || rate.amount === 0) continue;
    const { amount, exact } = strictAmount(rate);
    if (amount >= STRICT_EXACT_PART * exact) continue;
    findings.add(['groups', name, 'quota', direction, 'messagesPerSecond'], {
      problem: `is ${shownRate(rate)}: a strict bucket counts whole messages a week, and ${exact.toFixed(2)} is none`,
      allowed: 'whole messages a week, or at least 1,000 of them',
      remedy: 'Write it per week, in whole messages: 5/week.',
    });
  }
  if ((burst.messages ?? 0) > STRICT_DEPTH_MAX || (burst.messages ?? 1) % 1 !== 0) {
    const allowed = `a whole number, at most ${STRICT_DEPTH_MAX}`;
    const remedy = 'Lower it, or round it.';
    const problem = `must be ${allowed} with promise: strict, got ${burst.messages}`;
    findings.add(['groups', name, 'burst', 'messages'], { problem, allowed, remedy });
  }
}

function checkBeside(name: string, findings: Findings, beside: BesideStrict): void {
  const { topicKind, limits, attachments, mqttRules } = beside;
  const { publish, dispatch } = limits;
  const refuse: Refuse = (problem, allowed, remedy) =>
    findings.add(['groups', name, 'promise'], { problem, allowed, remedy });
  refuseTopicKind(topicKind, (problem, ...rest) => refuse(`strict ${problem}`, ...rest));
  if (hasRate({ publish, dispatch }, ['messages', 'bytes'])) {
    const problem = 'strict cannot stand beside limits.publish or limits.dispatch: only one level decides';
    refuse(problem, 'no limit of the node', 'Remove the limit of the node, or set promise: relaxed.');
  }
  const where = namedBy((group) => group === name, { attachments, mqttRules });
  if (where !== undefined) {
    const problem = `strict cannot be kept where ${where} name the group: several groups may decide there`;
    refuse(problem, 'requests that name the group', `Take it out of ${where}, or set promise: relaxed.`);
  }
}

export type Refuse = (problem: string, allowed: string, remedy: string) => void;

/** Refuses a kind of topic that may lose what it has acknowledged. */
export function refuseTopicKind(topicKind: TopicKind | undefined, refuse: Refuse): void {
  const lacks = topicKind === undefined ? null : kindOf(topicKind).strictLacks;
  if (lacks !== null)
    refuse(`cannot be kept by a topic of kind ${topicKind}: ${lacks}`, STRICT_KINDS, `Use ${STRICT_KINDS}.`);
}

const STRICT_KINDS = 'topic kind kafka or embedded';

/** Rows that name groups, by setting. */
interface NamingGroups extends Pick<BesideStrict, 'attachments' | 'mqttRules'> {
  readonly kafkaQuotas?: readonly { readonly group: string }[];
}

/** Finds the first setting that names such a group; undefined = none does. */
export function namedBy(
  isNamed: (group: string) => boolean,
  { attachments, mqttRules, kafkaQuotas = [] }: NamingGroups,
): string | undefined {
  const places = {
    attachments: [...Object.values(attachments.scopes), ...attachments.rules],
    'mqtt.rules': mqttRules,
    'kafkaQuotas.entities': kafkaQuotas,
  };
  return Object.entries(places).find(([, rows]) => rows.some(({ group }) => group !== null && isNamed(group)))?.[0];
}
