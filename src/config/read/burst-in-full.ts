import { isMapping, type Mapping } from '../../base/input/mapping.js';
import type { ConfigPath, Findings } from '../setting/findings.js';
import { parseQuantity } from '../setting/quantity.js';

/** A configuration with `burst` as a mapping everywhere; mistakes of a short form are told where that stands. */
export function withBurstsInFull(root: Mapping, findings: Findings): Mapping {
  const defaults = readAt(root.defaults, ['defaults'], findings);
  const { groups } = root;
  const full = isMapping(groups) ? groupsInFull(groups, findings) : groups;
  return defaults === root.defaults && full === groups ? root : { ...root, defaults, groups: full };
}

/**
 * A group's settings with `burst` as a mapping: `burst: 10` is messages, `burst: 2s` a time of the quota. The short form
 * says all of the depth, so amounts that a broader layer has do not count beside it; its policy does.
 */
export function withBurstInFull(group: unknown): unknown {
  if (!isMapping(group)) return group;
  const shadow = withOwnBurstInFull(group.shadow);
  const full = withOwnBurstInFull(group) as Mapping;
  return shadow === group.shadow ? full : { ...full, shadow };
}

function withOwnBurstInFull(settings: unknown): unknown {
  if (!isMapping(settings) || !isShort(settings.burst)) return settings;
  return { ...settings, burst: { ...NO_AMOUNTS, [keyOf(settings.burst)]: settings.burst } };
}

/** Finds the short forms of a group, and spells them in full. */
export function shortBursts(group: unknown): readonly { readonly at: ConfigPath; readonly key: string }[] {
  if (!isMapping(group)) return [];
  const { burst, shadow } = group;
  const planned = isMapping(shadow) ? shadow.burst : undefined;
  return [
    ...(isShort(burst) ? [{ at: ['burst'], key: keyOf(burst) }] : []),
    ...(isShort(planned) ? [{ at: ['shadow', 'burst'], key: keyOf(planned) }] : []),
  ];
}

function groupsInFull(groups: Mapping, findings: Findings): Mapping {
  if (!Object.values(groups).some((group) => shortBursts(group).length > 0)) return groups;
  return Object.fromEntries(
    Object.entries(groups).map(([name, group]) => [name, readAt(group, ['groups', name], findings)]),
  );
}

function readAt(group: unknown, path: ConfigPath, findings: Findings): unknown {
  for (const { at, key } of shortBursts(group)) findings.setWritten([...path, ...at, key], [...path, ...at]);
  return withBurstInFull(group);
}

/** null is a mapping without a value. */
function isShort(burst: unknown): boolean {
  return burst !== undefined && burst !== null && !isMapping(burst);
}

/** A number without a unit is a count and could be milliseconds as well; no other text is both. */
function keyOf(burst: unknown): 'messages' | 'quotaMs' {
  if (typeof burst !== 'string' || Number.isFinite(parseQuantity('count', burst))) return 'messages';
  return Number.isFinite(parseQuantity('duration', burst)) ? 'quotaMs' : 'messages';
}

const NO_AMOUNTS = Object.freeze({ messages: null, bytes: null, quotaMs: null });
