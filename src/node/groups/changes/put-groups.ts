import { setImmediate as nextTurn } from 'node:timers/promises';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Mapping } from '../../../base/input/mapping.js';
import type { BatchEntry, ChangedBy } from '../../../core/beside/registry/registry-record.js';
import type { PreviewedGroup, RefusedGroup } from '../../api/change-answers.js';
import type { ManyGroups } from '../../api/quota-groups.js';
import { originOf } from '../registry/describe-registry.js';
import { changed, checkedReplacement, definedGroup, rejectBeyond } from './change-group.js';
import { type ChangeParts, type Expected, registryOf } from './change-parts.js';

/** Most groups of one batch: each node applies them within one turn of its event loop. */
export const BATCH_GROUPS_MAX = 10_000;

/** Returns the expected revision of a group; may throw GROUP_CHANGED. */
export type ExpectedOf = (group: string) => Expected;

/**
 * Puts all groups for the whole cluster, or none: the log decides at one offset, after all checks. Rejects with
 * GROUPS_INVALID, GROUPS_CHANGED, CHANGE_UNCONFIRMED.
 */
export async function putGroups(
  parts: ChangeParts,
  written: Mapping,
  expectedOf: ExpectedOf,
  by: ChangedBy,
): Promise<ManyGroups> {
  const registry = registryOf(parts);
  const entries = await checkedEntries(parts, written, expectedOf);
  const groups = entries.map(({ group }) => ({ group, isNew: !parts.groups.numbers.has(group) }));
  const { accepted, late, revision } = await registry.proposeAll(entries, by);
  if (accepted) return { revision, groups };
  if (late.length === 0) {
    const reason = 'the log lacks a part of the batch, so nothing is changed';
    throw new QuotameshError('CHANGE_UNCONFIRMED', { group: `${entries[0]?.group} and others`, reason });
  }
  const expected = new Map(entries.map((entry) => [entry.group, entry.expected]));
  const refusals = late.map(({ group, revision }) => {
    return refusedGroup(group, changed(group, revision, expected.get(group) ?? null));
  });
  throw new GroupsRefused(refusals, entries.length);
}

export async function previewGroups(
  parts: ChangeParts,
  written: Mapping,
  expectedOf: ExpectedOf,
): Promise<PreviewedGroup[]> {
  const entries = await checkedEntries(parts, written, expectedOf);
  return entries.map(({ group, definition: after }) => {
    const isNew = !parts.groups.numbers.has(group);
    if (isNew) return { group, isNew, origin: null, revision: 0, before: null, after };
    const { definition: before } = definedGroup(parts, group);
    return { group, isNew, ...originOf(parts, group), before, after };
  });
}

async function checkedEntries(parts: ChangeParts, written: Mapping, expectedOf: ExpectedOf): Promise<BatchEntry[]> {
  const names = Object.keys(written);
  if (names.length === 0 || names.length > BATCH_GROUPS_MAX) {
    const reason = `must name 1 to ${BATCH_GROUPS_MAX} groups, got ${names.length}`;
    throw new QuotameshError('FIELD_INVALID', { field: 'groups', reason });
  }
  const entries: BatchEntry[] = [];
  const refusals: RefusedGroup[] = [];
  let added = 0;
  for (const [at, group] of names.entries()) {
    // Each takes some 50 µs, and requests must not wait for all.
    if (at > 0 && at % CHECKED_PER_TURN === 0) await nextTurn();
    try {
      const expected = expectedOf(group);
      const definition = checkedReplacement(parts, group, written[group], expected);
      if (!parts.groups.has(group)) rejectBeyond(parts, group, ++added);
      entries.push({ group, expected, definition });
    } catch (error) {
      if (!(error instanceof QuotameshError) || error.code === 'REGISTRY_OFF') throw error;
      refusals.push(refusedGroup(group, error));
    }
  }
  if (refusals.length > 0) throw new GroupsRefused(refusals, names.length);
  return entries;
}

const CHECKED_PER_TURN = 100;

/** Refuses a batch as a whole: GROUPS_CHANGED if only revisions were wrong. */
export class GroupsRefused extends QuotameshError {
  /** First hundred mistakes. */
  readonly errors: readonly RefusedGroup[];

  constructor(refusals: readonly RefusedGroup[], of: number) {
    const isLate = refusals.every(({ code }) => code === 'GROUP_CHANGED');
    const first = refusals[0]?.detail ?? '';
    super(isLate ? 'GROUPS_CHANGED' : 'GROUPS_INVALID', { count: refusals.length, of, first });
    this.errors = refusals.slice(0, ERRORS_MAX);
  }
}

export function refusedGroup(group: string, error: QuotameshError): RefusedGroup {
  const { code, message: detail, remedy, httpStatus: status } = error;
  return { group: group.slice(0, NAME_LENGTH_MAX), status, code, detail, remedy };
}

/** Errors per answer; 10,000 would be several megabytes. */
const ERRORS_MAX = 100;
const NAME_LENGTH_MAX = 200;
