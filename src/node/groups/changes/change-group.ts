import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { isMapping, type Mapping } from '../../../base/input/mapping.js';
import { withBurstInFull } from '../../../config/read/burst-in-full.js';
import { examineGroup } from '../../../config/read/group-definition.js';
import { withUnitsBehindAmounts } from '../../../config/read/units-in-keys.js';
import { LIMIT_NAMES, rateKey } from '../../../config/setting/written-rate.js';
import { isExpected } from '../../../core/beside/registry/group-history.js';
import type { ChangedBy, GroupDefinition } from '../../../core/beside/registry/registry-record.js';
import { DEFINITION_BYTES_MAX } from '../../../topic/codec/registry-codec.js';
import { leastDefinition } from '../least-definition.js';
import { originOf } from '../registry/describe-registry.js';
import { rejectInUse } from './attaching.js';
import { type ChangeParts, type Expected, registryOf } from './change-parts.js';
import { invalidGroup } from './invalid-group.js';

/** A group with what it is made of. */
export interface CostedGroup {
  readonly group: string;
  readonly origin: 'yaml' | 'run-time';
  /** 0 = as YAML has it, and never changed at run time. */
  readonly revision: number;
  readonly definition: GroupDefinition;
  readonly readPageBytes: number;
}

/** Throws GROUP_UNKNOWN. */
export function definedGroup(parts: ChangeParts, name: string): CostedGroup {
  const number = parts.groups.numbers.get(name);
  if (number === undefined) return parts.gate.unknownGroup(name);
  return {
    group: name,
    ...originOf(parts, name),
    definition: parts.registry?.stateOf(name).definition ?? withoutNulls(leastDefinition(parts.groups.at(number))),
    readPageBytes: parts.config.costs.readPageBytes,
  };
}

/**
 * The group is like this from now on, for the whole cluster. Rejects with GROUP_CHANGED.
 *
 * @param definition as `checkedDefinition` or `checkedReplacement` returns it
 */
export async function putGroup(
  parts: ChangeParts,
  name: string,
  definition: GroupDefinition,
  expected: Expected,
  by: ChangedBy,
): Promise<CostedGroup & { readonly isNew: boolean }> {
  const registry = registryOf(parts);
  const isNew = !parts.groups.numbers.has(name);
  const { accepted, state } = await registry.propose(name, expected, definition, by);
  if (!accepted) throw changed(name, state.revision, expected);
  const { readPageBytes } = parts.config.costs;
  return { group: name, origin: 'run-time', revision: state.revision, definition, readPageBytes, isNew };
}

/**
 * Lays `patch` over the group as it is (RFC 7396: null takes a key away). If no revision is expected and another change
 * comes first, the patch is applied again to the new state.
 */
export async function patchGroup(
  parts: ChangeParts,
  name: string,
  patch: GroupDefinition,
  expected: Expected,
  by: ChangedBy,
): Promise<CostedGroup> {
  for (let attempt = 1; ; attempt++) {
    const { revision } = definedGroup(parts, name);
    try {
      const definition = checkedDefinition(parts, name, mergedDefinition(parts, name, patch));
      return await putGroup(parts, name, definition, expected ?? revision, by);
    } catch (error) {
      const isLate = error instanceof QuotameshError && error.code === 'GROUP_CHANGED';
      if (!isLate || expected !== null || attempt === PATCH_ATTEMPTS) throw error;
    }
  }
}

/**
 * Rejects with GROUP_FROM_YAML where nothing was defined at run time; else YAML's group is in force again, if it has
 * one. Where it has none, scopes that are attached to the group must be detached before (GROUP_IN_USE). With `force`
 * the same proposal detaches all that are attached to the group at the proposal's offset; if the log refuses it, it
 * detaches none.
 */
export async function deleteGroup(
  parts: ChangeParts,
  name: string,
  expected: Expected,
  by: ChangedBy,
  force = false,
): Promise<void> {
  const registry = registryOf(parts);
  const { origin } = definedGroup(parts, name);
  if (origin === 'yaml') throw new QuotameshError('GROUP_FROM_YAML', { group: name, source: parts.config.source });
  expectRevision(parts, name, expected);
  const isGone = parts.yaml.get(name) === undefined;
  if (isGone) rejectInUse(parts, name, force);
  const { accepted, state } = await registry.propose(name, expected, null, by, { detaching: isGone && force });
  if (!accepted) throw changed(name, state.revision, expected);
}

/** The group as it is, with `patch` laid over it; throws GROUP_UNKNOWN. */
export function mergedDefinition(parts: ChangeParts, name: string, written: GroupDefinition): unknown {
  const patch = withUnitsBehindAmounts(written);
  const { definition } = definedGroup(parts, name);
  if (isMapping(patch.burst)) return patched(withBurstInFull(definition), patch);
  // A short form says nothing of the policy.
  const hasPolicy = isMapping(definition.burst) && definition.burst.policy !== undefined;
  return patched(definition, hasPolicy ? withBurstInFull(patch) : patch);
}

/** The definition without keys that say nothing; throws GROUP_INVALID, GROUPS_FULL, REGISTRY_OFF. */
export function checkedDefinition(parts: ChangeParts, name: string, written: unknown): GroupDefinition {
  const registry = registryOf(parts);
  try {
    return checked(parts, name, written);
  } catch (error) {
    registry.changes.invalid++;
    throw error;
  }
}

/**
 * The definition with which a whole group is replaced. Rejects one that takes a limit away without saying so:
 * `quota: null`, or null for a single rate, says so. Throws GROUP_CHANGED, and what `checkedDefinition` does.
 */
export function checkedReplacement(
  parts: ChangeParts,
  name: string,
  written: Mapping,
  expected: Expected,
): GroupDefinition {
  // Other mistakes are told first.
  expectRevision(parts, name, expected);
  const read = withUnitsBehindAmounts(written);
  const definition = checkedDefinition(parts, name, read);
  if (!parts.groups.numbers.has(name)) return definition;
  const forgotten = new Set(forgottenLimits(definedGroup(parts, name).definition, read));
  if (forgotten.size === 0) return definition;
  const paths = [...forgotten].join(', ');
  const nulls = [...forgotten].map((path) => `${path}: null`).join(', ');
  const details = `without ${paths} a limit would go that the group has now: write it, or ${nulls} for no limit at all.`;
  throw new QuotameshError('GROUP_INVALID', { group: name, count: forgotten.size, details });
}

/** Paths of limits in force for which nothing is written, not even null; a missing section counts as one path. */
function forgottenLimits(now: unknown, written: unknown): string[] {
  if (!isMapping(now) || !isMapping(written)) return [];
  return Object.entries(now).flatMap(([key, value]) => {
    if (!Object.hasOwn(written, key)) return limits(key, value) ? [key] : [];
    return forgottenLimits(value, written[key]).map((path) => `${key}.${path}`);
  });
}

/** Whether a setting is a limit, or holds one. */
function limits(key: string, value: unknown): boolean {
  if (isMapping(value)) return Object.entries(value).some(([below, one]) => limits(below, one));
  return LIMITS.has(key) && value !== null;
}

const LIMITS: ReadonlySet<string> = new Set([...LIMIT_NAMES.map(rateKey), 'fromPerSecond', 'toPerSecond']);

/** Throws GROUP_CHANGED if the log would refuse the change now. */
export function expectRevision(parts: ChangeParts, name: string, expected: Expected): void {
  const state = registryOf(parts).stateOf(name);
  if (!isExpected(state, expected)) throw changed(name, state.revision, expected);
}

export const PATCH_ATTEMPTS = 20;

function checked(parts: ChangeParts, name: string, written: unknown): GroupDefinition {
  const definition = withoutNulls(withUnitsBehindAmounts(written ?? {}));
  const { mistakes } = examineGroup(name, definition, 'request');
  if (mistakes.length > 0) throw invalidGroup(name, mistakes);
  const bytes = Buffer.byteLength(JSON.stringify(definition));
  if (bytes > DEFINITION_BYTES_MAX) {
    const details = `it has ${bytes} bytes, at most ${DEFINITION_BYTES_MAX} are taken.`;
    throw new QuotameshError('GROUP_INVALID', { group: name, count: 1, details });
  }
  parts.groups.refuseCollision(name);
  const max = parts.config.registry.maxGroups;
  if (!parts.groups.has(name) && parts.groups.size - parts.groups.unlistedCount - parts.yaml.numbersTaken >= max) {
    throw new QuotameshError('GROUPS_FULL', { group: name, max });
  }
  return definition;
}

function changed(group: string, revision: number, expected: Expected): QuotameshError {
  const reason = `its revision is ${revision}, not ${expected}`;
  return new QuotameshError('GROUP_CHANGED', { group, reason });
}

/** null means the default again, and hides nothing, because there is no broader value below it. */
function withoutNulls(value: unknown): GroupDefinition {
  return (isMapping(value) ? patched({}, value) : value) as GroupDefinition;
}

/** Applies a patch by RFC 7396. */
export function patched(target: unknown, patch: unknown): unknown {
  if (!isMapping(patch)) return patch;
  // Without a prototype __proto__ is a setting like any other, which nobody knows, and is refused as such.
  const result: Record<string, unknown> = Object.assign(Object.create(null), isMapping(target) ? target : {});
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = patched(result[key], value);
  }
  return result;
}
