import { isMapping } from '../../base/input/mapping.js';
import { gatesOf } from '../../core/base/local-gate.js';
import { DIRECTIONS } from '../../core/base/vocabulary.js';
import type { GroupSection } from '../schema/groups.js';
import { SHARED_KINDS } from '../schema/topic-kinds.js';
import type { ConfigPath, Findings } from '../setting/findings.js';
import { formatQuantity, SECONDS_OF } from '../setting/quantity.js';
import { valueBelow } from '../setting/setting-value.js';
import type { Sound } from '../setting/text-file.js';
import { givenRate, perSecond, shownBeside, shownRate } from '../setting/written-rate.js';
import { isPlanned, plannedSettings } from './planned-settings.js';
import type { GroupValues } from './read-groups.js';

/** Checks what must hold between the settings of a group. `isAlone`: there is no topic. */
export function checkGroups(groups: GroupValues, root: unknown, findings: Findings, isAlone = false): void {
  for (const [name, values] of groups) {
    checkReserved(name, values, findings);
    checkRamp(name, values, root, findings);
    checkShareRange(name, values, findings);
    checkShadow(name, values, findings);
    checkBursts(name, values, findings, isAlone);
  }
  // Keys of a ramp below `defaults` make no ramp without a start, which groups may add. If no group does, they are of
  // no use, and somebody would wait for a ramp in vain.
  const hasRamp = [...groups.values()].some(({ ramp }) => ramp.fromPerSecond !== null);
  if (groups.size > 0 && !hasRamp) checkStart(root, ['defaults'], findings);
}

/** Checks that reserved rates are parts of the quota. */
function checkReserved(group: string, values: Sound<GroupSection>, findings: Findings): void {
  for (const direction of DIRECTIONS) {
    const quota = values.quota[direction];
    const [total, reserved] = [givenRate(quota, 'cost'), givenRate(quota, 'reservedCost')];
    if (total === null || reserved === null || perSecond(reserved) <= perSecond(total)) continue;
    const allowed = `at most quota.${direction}.costPerSecond = ${shownRate(total)}`;
    const problem = `must be ${allowed}, got ${shownBeside(reserved, total.per)}`;
    const remedy = 'Lower it, or raise costPerSecond.';
    const cause = 'reserved-above-quota';
    findings.add(['groups', group, 'quota', direction, 'reservedCostPerSecond'], { problem, allowed, remedy, cause });
  }
}

/** Checks that a ramp has a start, and no end below it. The end is the quota, or written. */
function checkRamp(group: string, values: Sound<GroupSection>, root: unknown, findings: Findings): void {
  const from = values.ramp.fromPerSecond;
  if (from === null) checkStart(root, ['groups', group], findings);
  if (typeof from !== 'number') return;
  const at: ConfigPath = ['groups', group, 'ramp', 'fromPerSecond'];
  const to = values.ramp.toPerSecond ?? null;
  const ends = to === null ? messageQuotas(values) : [to];
  const lower = ends.find((end) => from > end);
  if (lower !== undefined) {
    const allowed = to === null ? `at most the quota, ${lower}` : `at most ramp.toPerSecond = ${lower}`;
    const remedy = 'Lower it, or raise the end of the ramp.';
    findings.add(at, { problem: `must be ${allowed}, got ${from}`, allowed, remedy });
  } else if (ends.length === 0) {
    const problem = 'needs an end: the group has no quota in messages per second';
    const allowed = 'ramp.toPerSecond, or a messagesPerSecond';
    findings.add(at, { problem, allowed, remedy: 'Set ramp.toPerSecond.' });
  }
}

function messageQuotas({ quota }: Sound<GroupSection>): number[] {
  return DIRECTIONS.flatMap((direction) => {
    const rate = givenRate(quota[direction], 'messages');
    return rate === null ? [] : [perSecond(rate)];
  });
}

/** Tells of keys of a ramp that has no start. `fromPerSecond: null` is no mistake: it takes an inherited ramp back. */
function checkStart(root: unknown, path: readonly string[], findings: Findings): void {
  const ramp = valueBelow(root, [...path, 'ramp']);
  if (!isMapping(ramp) || ramp.fromPerSecond === null) return;
  const key = Object.keys(ramp).find((name) => (ramp[name] ?? null) !== null);
  if (key === undefined) return;
  const problem = 'has no beginning: ramp.fromPerSecond is missing';
  const remedy = 'Set ramp.fromPerSecond, or remove the ramp.';
  findings.add([...path, 'ramp', key], { problem, allowed: 'a ramp with both ends', remedy });
}

/** Checks that the least and largest share of a node leave room. */
function checkShareRange(group: string, values: Sound<GroupSection>, findings: Findings): void {
  const { minShareRatio: least, maxShareRatio: most } = values;
  if (least === undefined || most === undefined || least <= most) return;
  findings.add(['groups', group, 'minShareRatio'], {
    problem: `must be at most maxShareRatio = ${most}, got ${least}: otherwise no share would do for a node`,
    allowed: `at most maxShareRatio = ${most}`,
    remedy: 'Lower minShareRatio or raise maxShareRatio, in the group or in defaults.',
  });
}

/** Checks that a plan has something in force to compare with. */
function checkShadow(group: string, values: Sound<GroupSection>, findings: Findings): void {
  if (values.mode !== 'shadow' || !isPlanned(values)) return;
  findings.add(['groups', group, 'shadow'], {
    problem: 'stands beside mode: shadow, where nothing is in force with which it could be compared',
    allowed: 'one of the two',
    remedy: 'Write what is planned as the settings of the group, or set mode: enforce.',
  });
}

/** Checks that a burst has a cluster's bucket, and its depth. */
function checkBursts(group: string, values: Sound<GroupSection>, findings: Findings, isAlone: boolean): void {
  const at: ConfigPath = ['groups', group, 'burst'];
  const plannedAt: ConfigPath = ['groups', group, 'shadow', 'burst'];
  const [gate] = gatesOf(values as Partial<GroupSection>);
  if (!isAlone && gate === undefined) {
    checkDepth(at, values, findings);
    const planned = plannedSettings(values);
    if (planned !== null) checkDepth(plannedAt, planned, findings);
    return;
  }
  const because = isAlone ? 'topic.kind is none' : `${gate} is ${values[gate as keyof GroupSection]}`;
  const finding = {
    problem: `needs a bucket of the cluster: ${because}, so each node limits its own share`,
    allowed: 'no burst',
    remedy: isAlone ? `Remove it, or share a topic: ${SHARED_KINDS}.` : `Remove it, or remove ${gate}.`,
  };
  for (const key of ['messages', 'bytes', 'quotaMs'] as const) {
    if ((values.burst[key] ?? null) !== null) findings.add([...at, key], finding);
    if ((values.shadow.burst[key] ?? null) !== null) findings.add([...plannedAt, key], finding);
  }
}

/**
 * A depth is for bursts: with more than a day of the quota, or less than a message of it, something else was meant. Both
 * directions have the depth, so the smaller quota says what a day is, and the larger one what a message is.
 */
function checkDepth(at: ConfigPath, { burst, quota }: Sound<GroupSection>, findings: Findings): void {
  for (const unit of ['messages', 'bytes'] as const) {
    const rates = DIRECTIONS.flatMap((direction) => givenRate(quota[direction], unit) ?? []);
    const [first, second = first] = rates.filter(({ amount }) => amount > 0);
    if (first === undefined || second === undefined) continue;
    const smallest = perSecond(second) < perSecond(first) ? second : first;
    const largest = perSecond(second) > perSecond(first) ? second : first;
    const depth = burst[unit] ?? null;
    const most = perSecond(smallest) * SECONDS_OF.day;
    if (depth !== null && depth > most) {
      findings.add([...at, unit], {
        problem: `is ${depth} ${unit}, which take more than a day to come in at ${shownRate(smallest)}`,
        allowed: `at most a day of the quota, ${Math.max(1, Math.floor(most))}`,
        remedy: 'Lower it, or raise the quota.',
        cause: 'above-range',
      });
    }
    const ofQuota = ((burst.quotaMs ?? 0) / 1000) * perSecond(largest);
    if (unit === 'messages' && depth === null && ofQuota > 0 && ofQuota < 1) {
      findings.add([...at, 'quotaMs'], {
        problem: `is ${formatQuantity('duration', burst.quotaMs!)} of ${shownRate(largest)}, which is less than one message`,
        allowed: 'time enough for one message of the quota',
        remedy: `Say it in messages: burst: ${Math.max(1, Math.floor(largest.amount))}.`,
        cause: 'below-range',
      });
    }
  }
}
