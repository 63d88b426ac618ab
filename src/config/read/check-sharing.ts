import type { GroupSettings } from '../schema/groups.js';
import type { Sound } from '../schema/read-section.js';
import type { Findings } from '../setting/findings.js';
import type { GroupValues } from './read-groups.js';

/** What a group that shares tokens cannot have yet, and what only such a group has. */
export function checkSharing(groups: GroupValues, findings: Findings): void {
  for (const [name, values] of groups) {
    if (values.sharing === 'rates') checkRates(name, values, findings);
    if (values.sharing !== 'tokens') continue;
    for (const [key, value] of unsupported(values)) {
      findings.add(['groups', name, ...key.split('.')], {
        problem: `cannot be ${value} where sharing is tokens`,
        allowed: 'sharing: rates',
        remedy: `Share rates in this group, or remove ${key}.`,
      });
    }
  }
}

function checkRates(name: string, { burst }: Sound<GroupSettings>, findings: Findings): void {
  for (const key of ['messages', 'bytes'] as const) {
    if ((burst[key] ?? null) === null) continue;
    findings.add(['groups', name, 'burst', key], {
      problem: 'needs a bucket of the cluster: sharing is rates, where every node has a bucket of its own',
      allowed: 'sharing: tokens',
      remedy: 'Set sharing: tokens, or use burstMs, the depth of each node’s bucket.',
    });
  }
}

/** Settings by key, with the value that a bucket of the cluster does not do justice to. */
function unsupported(values: Sound<GroupSettings>): [key: string, value: unknown][] {
  const { limiter, topics, smoothingMs, slewPerSecond } = values;
  const found: [string, unknown][] = [];
  if (limiter === 'window') found.push(['limiter', limiter]);
  if (topics !== undefined && topics !== 'shared') found.push(['topics', topics]);
  if (typeof smoothingMs === 'number' && smoothingMs > 0) found.push(['smoothingMs', smoothingMs]);
  if (typeof slewPerSecond === 'number') found.push(['slewPerSecond', slewPerSecond]);
  return found;
}
