import { isMapping } from '../../base/input/mapping.js';
import { DIRECTIONS } from '../../core/base/vocabulary.js';
import type { GroupSection } from '../schema/groups.js';
import type { Findings } from '../setting/findings.js';
import { valueBelow } from '../setting/setting-value.js';
import type { Sound } from '../setting/text-file.js';
import { givenRate, perSecond } from '../setting/written-rate.js';
import type { GroupValues } from './read-groups.js';

/** A ramp has a start and an end, and the end is not below the start. */
export function checkRamps(groups: GroupValues, root: unknown, findings: Findings): void {
  let hasRamp = false;
  for (const [name, values] of groups) {
    const from = values.ramp.fromPerSecond;
    if (from !== null) hasRamp = true;
    if (typeof from === 'number') checkEnds(name, values, from, findings);
    else if (from === null) checkStart(root, ['groups', name], findings);
  }
  // Keys of a ramp below `defaults` make no ramp without a start, which groups may add. If no group does, they are of
  // no use, and somebody would wait for a ramp in vain.
  if (groups.size > 0 && !hasRamp) checkStart(root, ['defaults'], findings);
}

function checkEnds(group: string, values: Sound<GroupSection>, from: number, findings: Findings): void {
  const to = values.ramp.toPerSecond ?? null;
  for (const end of to === null ? quotasOf(values) : [to]) {
    if (typeof end !== 'number' || from <= end) continue;
    const allowed = to === null ? `at most the quota, ${end}` : `at most ramp.toPerSecond = ${end}`;
    const remedy = 'Lower it, or raise the end of the ramp.';
    findings.add(['groups', group, 'ramp', 'fromPerSecond'], {
      problem: `must be ${allowed}, got ${from}`,
      allowed,
      remedy,
    });
    return;
  }
  if (to !== null || quotasOf(values).length > 0) return;
  const problem = 'needs an end: the group has no quota in messages per second';
  const allowed = 'ramp.toPerSecond, or a messagesPerSecond';
  findings.add(['groups', group, 'ramp', 'fromPerSecond'], { problem, allowed, remedy: 'Set ramp.toPerSecond.' });
}

function quotasOf({ quota }: Sound<GroupSection>): number[] {
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
