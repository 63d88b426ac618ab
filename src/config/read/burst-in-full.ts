import { isMapping, type Mapping } from '../../base/input/mapping.js';
import type { ConfigPath, Findings } from '../setting/findings.js';
import { parseQuantity } from '../setting/quantity.js';

/** A configuration with `burst` as a mapping everywhere. */
export function withBurstsInFull(root: Mapping, findings: Findings): Mapping {
  const { defaults, groups } = root;
  const full = isMapping(groups)
    ? Object.entries(groups).map(([name, group]) => [name, burstInFullAt(['groups', name], group, findings)])
    : null;
  return {
    ...root,
    defaults: burstInFullAt(['defaults'], defaults, findings),
    groups: full === null ? groups : Object.fromEntries(full),
  };
}

/** As withBurstInFull; mistakes of a short form are told where that stands. */
export function burstInFullAt(path: ConfigPath, group: unknown, findings: Findings): unknown {
  for (const { at, key } of shortBursts(group)) findings.setWritten([...path, ...at, key], [...path, ...at]);
  return withBurstInFull(group);
}

/**
 * A group's settings with `burst` as a mapping: `burst: 10` is messages, `burst: 2s` a time of the quota. The short form
 * says all of the depth, so amounts that a broader layer has do not count beside it; its policy does.
 */
export function withBurstInFull(group: unknown): unknown {
  if (!isMapping(group)) return group;
  const { shadow } = group;
  const full = withOwnBurstInFull(group);
  return isMapping(shadow) ? { ...full, shadow: withOwnBurstInFull(shadow) } : full;
}

function withOwnBurstInFull(settings: Mapping): Mapping {
  const { burst } = settings;
  return isShort(burst) ? { ...settings, burst: { ...NO_AMOUNTS, [keyOf(burst)]: burst } } : settings;
}

function shortBursts(group: unknown): readonly { readonly at: ConfigPath; readonly key: string }[] {
  if (!isMapping(group)) return [];
  const { burst, shadow } = group;
  const planned = isMapping(shadow) ? shadow.burst : undefined;
  return [
    ...(isShort(burst) ? [{ at: ['burst'], key: keyOf(burst) }] : []),
    ...(isShort(planned) ? [{ at: ['shadow', 'burst'], key: keyOf(planned) }] : []),
  ];
}

/** null is a mapping without a value. */
function isShort(burst: unknown): boolean {
  return burst !== undefined && burst !== null && !isMapping(burst);
}

/** Tells a time from a count: a number without a unit counts. No other text is both. */
function keyOf(burst: unknown): 'messages' | 'quotaMs' {
  if (typeof burst !== 'string' || Number.isFinite(parseQuantity('count', burst))) return 'messages';
  return Number.isFinite(parseQuantity('duration', burst)) ? 'quotaMs' : 'messages';
}

const NO_AMOUNTS = Object.freeze({ messages: null, bytes: null, quotaMs: null });
