import { isMapping, type Mapping } from '../../input/mapping.js';
import { ALIASES, type Alias } from '../schema/aliases.js';
import type { ConfigPath, Findings } from '../setting/findings.js';

/**
 * The configuration as it would be written today: old words (aliases.ts) are replaced, each is noted, and `findings`
 * knows where it stands. If both words are given, that is a mistake, which names both.
 */
export function withNewNames(raw: unknown, findings: Findings): unknown {
  if (!isMapping(raw)) return raw;
  let root = raw;
  for (const alias of ALIASES) {
    if (alias.ofKey === undefined) root = withNewKey(root, alias, findings);
  }
  return withNewValues(root, findings);
}

/** The same for values alone: a variable may hold an old value, too. */
export function withNewValues(raw: unknown, findings: Findings): unknown {
  if (!isMapping(raw)) return raw;
  let root = raw;
  for (const alias of ALIASES) {
    if (alias.ofKey !== undefined) root = withNewValue(root, alias, alias.ofKey, findings);
  }
  return root;
}

function withNewKey(root: Mapping, { section, old, now }: Alias, findings: Findings): Mapping {
  const below = root[section];
  if (!isMapping(below) || !Object.hasOwn(below, old)) return root;
  if (Object.hasOwn(below, now)) {
    const problem = `is the old name of ${section}.${now}, which is given too`;
    const remedy = `Remove ${section}.${old}.`;
    findings.add([section, old], { problem, allowed: 'one of the two', remedy }, { part: 'key' });
    const { [old]: _, ...others } = below;
    return { ...root, [section]: others };
  }
  findings.note([section, old], { old: `${section}.${old}`, now: `${section}.${now}` });
  findings.setWritten([section, now], [section, old]);
  const entries = Object.entries(below).map(([key, value]) => [key === old ? now : key, value] as const);
  return { ...root, [section]: Object.fromEntries(entries) };
}

function withNewValue(root: Mapping, alias: Alias, key: string, findings: Findings): Mapping {
  const defaults = renewed(root.defaults, ['defaults'], alias, key, findings);
  const { groups } = root;
  if (!isMapping(groups)) return defaults === root.defaults ? root : { ...root, defaults };
  const entries = Object.entries(groups).map(([name, group]): [string, unknown] => {
    return [name, renewed(group, ['groups', name], alias, key, findings)];
  });
  const isSame = defaults === root.defaults && entries.every(([name, group]) => group === groups[name]);
  if (isSame) return root;
  return { ...root, ...(defaults === undefined ? {} : { defaults }), groups: Object.fromEntries(entries) };
}

function renewed(group: unknown, at: ConfigPath, { old, now }: Alias, key: string, findings: Findings): unknown {
  if (!isMapping(group) || group[key] !== old) return group;
  findings.note([...at, key], { old: `${key}: ${old}`, now: `${key}: ${now}` });
  return { ...group, [key]: now };
}
