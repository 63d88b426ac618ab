import type { ErrorCode } from '../../../base/errors/catalogue.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import { isMapping } from '../../../base/input/mapping.js';
import { withBurstInFull } from '../../../config/read/burst-in-full.js';
import { examineGroup } from '../../../config/read/group-definition.js';
import { withUnitsBehindAmounts } from '../../../config/read/units-in-keys.js';
import { isStrictGroup } from '../../../config/resolved/strict-quota.js';
import { kindOf } from '../../../config/schema/topic-kinds.js';
import { type Mistake, mistakesText } from '../../../config/setting/config-error.js';
import { hasRate, LIMIT_NAMES, rateKey } from '../../../config/setting/written-rate.js';
import { isExpected } from '../../../core/beside/registry/group-history.js';
import type { ChangedBy, GroupDefinition } from '../../../core/beside/registry/registry-record.js';
import { DEFINITION_BYTES_MAX } from '../../../topic/codec/registry-codec.js';
import type { ChangedGroup, CostedGroup } from '../../api/change-answers.js';
import { leastDefinition } from '../least-definition.js';
import { originOf } from '../registry/describe-registry.js';
import { rejectInUse } from './attaching.js';
import { changeInForce } from './change-in-force.js';
import { type ChangeParts, type Expected, registryOf } from './change-parts.js';
import { warningsOf } from './change-warnings.js';

export type { CostedGroup } from '../../api/change-answers.js';

/** Returns a group. Throws GROUP_UNKNOWN. */
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
 * Puts a group for the whole cluster. Rejects with GROUP_CHANGED. @param definition of `checkedDefinition` or
 * `checkedReplacement`
 */
export async function putGroup(
  parts: ChangeParts,
  name: string,
  definition: GroupDefinition,
  expected: Expected,
  by: ChangedBy,
): Promise<ChangedGroup & { readonly isNew: boolean }> {
  const registry = registryOf(parts);
  const isNew = !parts.groups.numbers.has(name);
  const warnings = isNew ? [] : warningsOf(definedGroup(parts, name).definition, definition);
  const { accepted, state } = await registry.propose(name, expected, definition, by);
  if (!accepted) throw changed(name, state.revision, expected);
  const strict = await changeInForce(parts, name);
  const { readPageBytes } = parts.config.costs;
  const { revision } = state;
  return { group: name, origin: 'run-time', revision, definition, readPageBytes, warnings, strict, isNew };
}

/**
 * Lays `patch` over the group (RFC 7396: null takes a key away). Without an expected revision it is applied again to a
 * changed group.
 */
export async function patchGroup(
  parts: ChangeParts,
  name: string,
  patch: GroupDefinition,
  expected: Expected,
  by: ChangedBy,
): Promise<ChangedGroup> {
  return afterOthers(expected, 'GROUP_CHANGED', async () => {
    const { revision } = definedGroup(parts, name);
    const definition = checkedDefinition(parts, name, mergedDefinition(parts, name, patch));
    return await putGroup(parts, name, definition, expected ?? revision, by);
  });
}

/** Repeats a change that came too late, unless it expects a revision. */
export async function afterOthers<Made>(
  expected: Expected,
  late: ErrorCode,
  change: () => Promise<Made>,
): Promise<Made> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await change();
    } catch (error) {
      const isLate = error instanceof QuotameshError && error.code === late;
      if (!isLate || expected !== null || attempt === ATTEMPTS) throw error;
    }
  }
}

const ATTEMPTS = 20;

/**
 * Deletes a definition of run time; YAML's group, if any, is in force again. Rejects with FROM_YAML without one,
 * and GROUP_IN_USE while scopes are attached and YAML has no such group. `force` detaches them with the same proposal,
 * at its offset: all or, if the log refuses it, none.
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
  if (origin === 'yaml') throw new QuotameshError('FROM_YAML', { what: `group ${name}`, source: parts.config.source });
  expectRevision(parts, name, expected);
  const isGone = parts.yaml.get(name) === undefined;
  if (isGone) rejectInUse(parts, name, force);
  const { accepted, state } = await registry.propose(name, expected, null, by, { detaching: isGone && force });
  if (!accepted) throw changed(name, state.revision, expected);
}

/** Lays `patch` over the group as it is. Throws GROUP_UNKNOWN. */
export function mergedDefinition(parts: ChangeParts, name: string, written: GroupDefinition): unknown {
  const patch = withUnitsBehindAmounts(written);
  const { definition } = definedGroup(parts, name);
  if (isMapping(patch.burst)) return patched(withBurstInFull(definition), patch);
  // A short form names no policy.
  const hasPolicy = isMapping(definition.burst) && definition.burst.policy !== undefined;
  return patched(definition, hasPolicy ? withBurstInFull(patch) : patch);
}

/** Checks a definition, and drops keys without meaning. Throws GROUP_INVALID, GROUPS_FULL, REGISTRY_OFF. */
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
 * Checks a replacement. A limit is taken away only by null: `quota: null`, or null for a rate. Throws GROUP_CHANGED,
 * and what `checkedDefinition` does.
 */
export function checkedReplacement(
  parts: ChangeParts,
  name: string,
  written: unknown,
  expected: Expected,
): GroupDefinition {
  // Other mistakes are reported first.
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

/** Lists limits in force that are not written, not even as null; a missing section counts once. */
function forgottenLimits(now: unknown, written: unknown): string[] {
  if (!isMapping(now) || !isMapping(written)) return [];
  return Object.entries(now).flatMap(([key, value]) => {
    if (!Object.hasOwn(written, key)) return limits(key, value) ? [key] : [];
    return forgottenLimits(value, written[key]).map((path) => `${key}.${path}`);
  });
}

/** Tests if a setting is a limit, or holds one. */
function limits(key: string, value: unknown): boolean {
  if (isMapping(value)) return Object.entries(value).some(([below, one]) => limits(below, one));
  return LIMITS.has(key) && value !== null;
}

const LIMITS: ReadonlySet<string> = new Set([...LIMIT_NAMES.map(rateKey), 'fromPerSecond', 'toPerSecond']);

export function expectRevision(parts: ChangeParts, name: string, expected: Expected): void {
  const state = registryOf(parts).stateOf(name);
  if (!isExpected(state, expected)) throw changed(name, state.revision, expected);
}

function checked(parts: ChangeParts, name: string, written: unknown): GroupDefinition {
  if (!isMapping(written)) {
    const details = `must be an object, got ${showSent(written)}; {} is a group without limits.`;
    throw new QuotameshError('GROUP_INVALID', { group: name, count: 1, details });
  }
  const definition = withoutNulls(withUnitsBehindAmounts(written));
  const { config, mistakes } = examineGroup(name, definition, 'request');
  if (mistakes.length > 0) throw invalidGroup(name, mistakes);
  const isStrict = config !== null && isStrictGroup(config);
  if (isStrict || (config?.concurrency ?? config?.budget ?? null) !== null)
    rejectUnlessStrictFits(parts, name, isStrict);
  const bytes = Buffer.byteLength(JSON.stringify(definition));
  if (bytes > DEFINITION_BYTES_MAX) {
    const details = `it has ${bytes} bytes, at most ${DEFINITION_BYTES_MAX} are taken.`;
    throw new QuotameshError('GROUP_INVALID', { group: name, count: 1, details });
  }
  parts.groups.refuseCollision(name);
  if (!parts.groups.has(name)) rejectBeyond(parts, name, 1);
  return definition;
}

/** Rejects a group that this node's topic could not keep. Throws STRICT_TOPIC, GROUP_INVALID. */
function rejectUnlessStrictFits({ config: { topic, limits } }: ChangeParts, group: string, isStrict: boolean): void {
  const { strictLacks: reason } = kindOf(topic.kind);
  if (reason !== null) throw new QuotameshError('STRICT_TOPIC', { kind: topic.kind, reason });
  if (!isStrict || !hasRate(limits.asWritten, ['messages', 'bytes'])) return;
  const details = 'promise: strict cannot stand beside limits.publish or limits.dispatch of the node.';
  throw new QuotameshError('GROUP_INVALID', { group, count: 1, details });
}

/** Rejects the last of so many new groups. Throws GROUPS_FULL. */
export function rejectBeyond({ config, groups, yaml }: ChangeParts, group: string, added: number): void {
  const max = config.registry.maxGroups;
  if (groups.size - groups.unlistedCount - yaml.numbersTaken + added <= max) return;
  throw new QuotameshError('GROUPS_FULL', { what: `group ${group}`, max });
}

export function changed(group: string, revision: number, expected: Expected): QuotameshError {
  return new QuotameshError('GROUP_CHANGED', { group, reason: `its revision is ${revision}, not ${expected}` });
}

/** Drops nulls, which mean the default: no broader value lies below. */
function withoutNulls(value: unknown): GroupDefinition {
  return (isMapping(value) ? patched({}, value) : value) as GroupDefinition;
}

/** Applies a patch by RFC 7396. */
export function patched(target: unknown, patch: unknown): unknown {
  if (!isMapping(patch)) return patch;
  // Without a prototype __proto__ is an unknown setting like any other.
  const result: Record<string, unknown> = Object.assign(Object.create(null), isMapping(target) ? target : {});
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = patched(result[key], value);
  }
  return result;
}

/** Makes the error of a definition's mistakes: their common code, or GROUP_INVALID. */
function invalidGroup(name: string, mistakes: readonly Mistake[]): QuotameshError {
  const details = mistakesText(mistakes);
  const group = name.slice(0, 200);
  const [code, ...others] = new Set(mistakes.map(codeOf));
  if (code === undefined || code === 'GROUP_INVALID' || others.length > 0) {
    return new QuotameshError('GROUP_INVALID', { group, count: mistakes.length, details });
  }
  return new QuotameshError(code, { group, details });
}

function codeOf({ path, cause }: Mistake) {
  const isQuota = /\.quota\.\w+\.\w+$/.test(path);
  if (cause === 'key-unknown') return 'GROUP_KEY_UNKNOWN';
  if (cause === 'reserved-above-quota') return 'RESERVED_ABOVE_QUOTA';
  if (cause === 'choice-unknown' && path.endsWith('.strategy')) return 'STRATEGY_UNKNOWN';
  if (cause === 'below-range' && isQuota) return 'QUOTA_NEGATIVE';
  if (cause === 'nearly-nothing' && isQuota) return 'QUOTA_TOO_SMALL';
  if (cause === 'above-range' && isQuota) return 'QUOTA_TOO_LARGE';
  return 'GROUP_INVALID';
}
