import { isMapping, type Mapping } from '../../base/input/mapping.js';
import { describeGroupConfig, describeTemplate } from '../../config/describe/describe-config.js';
import { examineGroup } from '../../config/read/group-definition.js';
import type { GroupConfig, KeyTemplate } from '../../config/resolved/resolved-config.js';
import { DIRECTIONS, type Direction } from '../../core/base/vocabulary.js';

/**
 * Writes the least YAML for a group, as run time reads it. It is without `defaults`. *Why:* in full, a YAML group's
 * first change would be one of thirty settings in the audit trail.
 */
export function leastDefinition(group: GroupConfig): Mapping {
  const known = KNOWN.get(group);
  if (known !== undefined) return known;
  const { quota, ...others } = describeGroupConfig(group);
  const written = { quota: withoutZeros(quota) };
  const { config } = examineGroup('group', written, '(least definition)');
  const bare: Mapping = config === null ? {} : describeGroupConfig(config);
  const least = { ...written, ...without(others, bare) };
  KNOWN.set(group, least);
  return least;
}

export function leastTemplate(template: KeyTemplate): Mapping {
  const { overrides: _, ...full } = describeTemplate(template);
  const named = template.overrides.map((override) => [override.name, leastOverride(template, override)]);
  return {
    ...leastDefinition(template.group),
    ...(named.length === 0 ? {} : { overrides: Object.fromEntries(named) }),
    ...('allowLimits' in full && { allowLimits: full.allowLimits }),
  };
}

/** Writes a key's differences from its template; the rest follows the template. */
export function leastOverride({ group }: KeyTemplate, override: GroupConfig): Mapping {
  return without(describeGroupConfig(override), describeGroupConfig(group));
}

/** By group and not by name: a changed group is another object. */
const KNOWN = new WeakMap<GroupConfig, Mapping>();

function without(settings: Mapping, others: Mapping): Mapping {
  return Object.fromEntries(Object.entries(settings).filter(([name, value]) => !isSameValue(value, others[name])));
}

/** Drops zero reservations; a quota of 0 blocks, and stays. */
function withoutZeros(quota: unknown): Mapping {
  const directions = (isMapping(quota) ? quota : {}) as Readonly<Record<Direction, Mapping | undefined>>;
  const named = DIRECTIONS.map((direction) => {
    const rates = Object.entries(directions[direction] ?? {});
    return [direction, Object.fromEntries(rates.filter(([name, rate]) => rate !== 0 || !name.startsWith('reserved')))];
  });
  return Object.fromEntries(named.filter(([, rates]) => Object.keys(rates as Mapping).length > 0));
}

/** Compares plain data without prototypes, in half the time of isDeepStrictEqual. */
export function isSameValue(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  for (const key of keys) {
    if (!Object.hasOwn(other, key)) return false;
    if (!isSameValue((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key])) return false;
  }
  return true;
}
