import { DIRECTIONS } from '../core/vocabulary.js';
import type { Findings } from './findings.js';
import type { GroupValues } from './read-groups.js';
import type { SettingValues } from './read-node.js';

/** A ramp rises: it does not begin above its end, and it has one. */
export function checkRamps(groups: GroupValues, findings: Findings): void {
  for (const [name, values] of groups) {
    const from = values.get('ramp.fromPerSecond') ?? null;
    const to = values.get('ramp.toPerSecond') ?? null;
    if (typeof from === 'number') checkEnds(name, values, from, findings);
    else if (typeof to === 'number') addWithoutStart(name, findings);
  }
}

function checkEnds(group: string, values: SettingValues, from: number, findings: Findings): void {
  const to = values.get('ramp.toPerSecond') ?? null;
  for (const end of to === null ? quotasOf(values) : [to]) {
    if (typeof end !== 'number' || from <= end) continue;
    const allowed = to === null ? `at most the quota, ${end}` : `at most ramp.toPerSecond = ${end}`;
    const remedy = 'Lower it, or raise the end of the ramp.';
    findings.add(['groups', group, 'ramp', 'fromPerSecond'], {
      ...{ problem: `must be ${allowed}, got ${from}`, allowed, remedy },
    });
    return;
  }
  if (to !== null || quotasOf(values).length > 0) return;
  const problem = 'needs an end: the group has no quota in messages per second';
  const allowed = 'ramp.toPerSecond, or a messagesPerSecond';
  findings.add(['groups', group, 'ramp', 'fromPerSecond'], { problem, allowed, remedy: 'Set ramp.toPerSecond.' });
}

function quotasOf(values: SettingValues): number[] {
  const quotas = DIRECTIONS.map((direction) => values.get(`quota.${direction}.messagesPerSecond`));
  return quotas.filter((quota): quota is number => typeof quota === 'number');
}

function addWithoutStart(group: string, findings: Findings): void {
  const problem = 'has no beginning: ramp.fromPerSecond is missing';
  const remedy = 'Set ramp.fromPerSecond, or remove the ramp.';
  findings.add(['groups', group, 'ramp', 'toPerSecond'], { problem, allowed: 'a ramp with both ends', remedy });
}
