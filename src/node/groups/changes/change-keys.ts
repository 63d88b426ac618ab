import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { showSent } from '../../../base/input/input-mistakes.js';
import { isMapping } from '../../../base/input/mapping.js';
import { type Mistake, mistakesText } from '../../../config/setting/config-error.js';
import { keyNameOf } from '../../../config/setting/key-name.js';
import { KeyPattern } from '../../../core/account/keys/key-pattern.js';
import { isExpected, NEVER } from '../../../core/beside/registry/group-history.js';
import {
  type ChangedBy,
  type GroupDefinition,
  keyEntry,
  templateEntry,
} from '../../../core/beside/registry/registry-record.js';
import { DEFINITION_BYTES_MAX } from '../../../topic/codec/registry-codec.js';
import type { ChangedKeys, DefinedKeys, KeyEntry, KeysPreview } from '../../api/change-answers.js';
import { examineOverride, examineTemplate } from '../keys/key-definition.js';
import { leastOverride, leastTemplate } from '../least-definition.js';
import { afterOthers, patched } from './change-group.js';
import { type ChangeParts, type Expected, registryOf } from './change-parts.js';
import { warningsOf } from './change-warnings.js';

export type { DefinedKeys, KeyEntry } from '../../api/change-answers.js';

/** Returns the template of this pattern, or the entry of this key. */
export function keyEntryOf(kind: KeyEntry['kind'], text: string): KeyEntry {
  return { kind, name: kind === 'key' ? keyNameOf(text) : text };
}

export function entryText({ kind, name }: KeyEntry): string {
  return `${kind} ${name.slice(0, 200)}`;
}

/** Lists templates, then keys of run time, by name. */
export function listKeyDefinitions(parts: ChangeParts): DefinedKeys[] {
  const { inForce, namesAtRunTime } = parts.templates;
  const templates = inForce.map(({ pattern }): KeyEntry => ({ kind: 'template', name: pattern }));
  const keys = namesAtRunTime.map((name): KeyEntry => ({ kind: 'key', name }));
  return [templates, keys].flatMap((entries) => {
    return entries.map((entry) => definedKeys(parts, entry)).sort((one, other) => (one.name < other.name ? -1 : 1));
  });
}

export function isDefined(parts: ChangeParts, entry: KeyEntry): boolean {
  return atRunTime(parts, entry) !== null || inYaml(parts, entry) !== null;
}

/** Returns an entry's definition. Throws KEY_DEFINITION_UNKNOWN. */
export function definedKeys(parts: ChangeParts, entry: KeyEntry): DefinedKeys {
  const { revision } = parts.registry?.stateOf(nameOf(entry)) ?? NEVER;
  const made = atRunTime(parts, entry);
  if (made !== null) return { ...entry, origin: 'run-time', revision, definition: made };
  const written = inYaml(parts, entry);
  if (written === null) throw new QuotameshError('KEY_DEFINITION_UNKNOWN', { what: entryText(entry) });
  return { ...entry, origin: 'yaml', revision: 0, definition: written };
}

/**
 * Puts a template or a key for the whole cluster. Rejects with KEY_DEFINITION_INVALID, KEY_DEFINITION_CHANGED,
 * GROUPS_FULL.
 */
export async function putKeys(
  parts: ChangeParts,
  entry: KeyEntry,
  definition: GroupDefinition,
  expected: Expected,
  by: ChangedBy,
): Promise<ChangedKeys & { readonly isNew: boolean }> {
  const registry = registryOf(parts);
  const isNew = !isDefined(parts, entry);
  const warnings = warningsOf(definitionIn(parts, entry), definition);
  try {
    check(parts, entry, definition);
  } catch (error) {
    registry.changes.invalid++;
    throw error;
  }
  const { accepted, state } = await registry.propose(nameOf(entry), expected, definition, by);
  if (!accepted) throw changed(entry, state.revision, expected);
  return { ...entry, origin: 'run-time', revision: state.revision, definition, warnings, isNew };
}

/** Changes some settings; repeats after others' changes unless `expected` is given. Rejects as `putKeys`. */
export async function patchKeys(
  parts: ChangeParts,
  entry: KeyEntry,
  patch: GroupDefinition,
  expected: Expected,
  by: ChangedBy,
): Promise<ChangedKeys & { readonly isNew: boolean }> {
  return afterOthers(expected, 'KEY_DEFINITION_CHANGED', async () => {
    const before = definitionIn(parts, entry) ?? {};
    const { revision, definition } = parts.registry?.stateOf(nameOf(entry)) ?? NEVER;
    // Deleted entries are expected to be absent, whatever their revision.
    const seen = definition === null ? 0 : revision;
    return await putKeys(parts, entry, patched(before, patch) as GroupDefinition, expected ?? seen, by);
  });
}

/** Previews a put. Throws what `putKeys` would reject with. */
export function previewPutKeys(
  parts: ChangeParts,
  entry: KeyEntry,
  definition: GroupDefinition,
  expected: Expected,
): KeysPreview {
  check(parts, entry, definition);
  expectRevision(parts, entry, expected);
  const before = definitionIn(parts, entry);
  return { ...entry, dryRun: true, before, after: definition, warnings: warningsOf(before, definition) };
}

/** Previews a patch. Throws what `patchKeys` would reject with. */
export function previewPatchKeys(
  parts: ChangeParts,
  entry: KeyEntry,
  patch: GroupDefinition,
  expected: Expected,
): KeysPreview {
  const definition = patched(definitionIn(parts, entry) ?? {}, patch) as GroupDefinition;
  return previewPutKeys(parts, entry, definition, expected);
}

/** Previews a deletion. Throws what `deleteKeys` would reject with. */
export function previewDeleteKeys(parts: ChangeParts, entry: KeyEntry, expected: Expected): KeysPreview {
  rejectUndeletable(parts, entry);
  expectRevision(parts, entry, expected);
  const [before, after] = [definitionIn(parts, entry), inYaml(parts, entry)];
  return { ...entry, dryRun: true, before, after, warnings: warningsOf(before, after) };
}

/**
 * Deletes a definition of run time; YAML's, if any, is in force again. Rejects with KEY_DEFINITION_UNKNOWN,
 * FROM_YAML, KEY_DEFINITION_CHANGED.
 */
export async function deleteKeys(
  parts: ChangeParts,
  entry: KeyEntry,
  expected: Expected,
  by: ChangedBy,
): Promise<void> {
  const registry = registryOf(parts);
  rejectUndeletable(parts, entry);
  const { accepted, state } = await registry.propose(nameOf(entry), expected, null, by);
  if (!accepted) throw changed(entry, state.revision, expected);
}

function rejectUndeletable(parts: ChangeParts, entry: KeyEntry): void {
  if (definedKeys(parts, entry).origin === 'run-time') return;
  throw new QuotameshError('FROM_YAML', { what: entryText(entry), source: parts.config.source });
}

/** Checks the revision. Throws KEY_DEFINITION_CHANGED, REGISTRY_OFF. */
function expectRevision(parts: ChangeParts, entry: KeyEntry, expected: Expected): void {
  const state = registryOf(parts).stateOf(nameOf(entry));
  if (!isExpected(state, expected)) throw changed(entry, state.revision, expected);
}

function definitionIn(parts: ChangeParts, entry: KeyEntry): GroupDefinition | null {
  return atRunTime(parts, entry) ?? inYaml(parts, entry);
}

function check(parts: ChangeParts, entry: KeyEntry, definition: GroupDefinition): void {
  const { templates, config } = parts;
  const what = entryText(entry);
  if (!isMapping(definition)) throw invalid(what, `must be an object, got ${showSent(definition)}.`);
  const mistakes =
    entry.kind === 'template' ? mistakesOfTemplate(parts, entry, definition) : mistakesOfKey(parts, entry, definition);
  if (mistakes.length > 0) throw invalid(what, mistakesText(mistakes), mistakes.length);
  const bytes = Buffer.byteLength(JSON.stringify(definition));
  if (bytes > DEFINITION_BYTES_MAX)
    throw invalid(what, `it has ${bytes} bytes, at most ${DEFINITION_BYTES_MAX} are taken.`);
  if (atRunTime(parts, entry) === null && !templates.hasRoom)
    throw new QuotameshError('GROUPS_FULL', { what, max: config.registry.maxGroups });
}

function mistakesOfTemplate({ templates, config }: ChangeParts, entry: KeyEntry, definition: GroupDefinition) {
  if (config.topic.kind === 'none') throw invalid(entryText(entry), 'a node without a topic has no keys.');
  const { mistakes } = examineTemplate(entry.name, definition, 'request');
  if (mistakes.length > 0) return mistakes;
  const [twin] = templates.twinsOf(KeyPattern.of(entry.name) as KeyPattern);
  if (twin === undefined) return [];
  throw invalid(entryText(entry), `matches names that ${showSent(twin)} matches, and neither is more specific.`);
}

function mistakesOfKey({ templates }: ChangeParts, entry: KeyEntry, definition: GroupDefinition): readonly Mistake[] {
  const template = templates.templateOf(entry.name);
  if (template === null) throw invalid(entryText(entry), 'no template has such names.');
  return examineOverride(template, entry.name, definition, 'request').mistakes;
}

function invalid(what: string, details: string, count = 1): QuotameshError {
  return new QuotameshError('KEY_DEFINITION_INVALID', { what, count, details });
}

function changed(entry: KeyEntry, revision: number, expected: Expected): QuotameshError {
  const reason = `its revision is ${revision}, not ${expected}`;
  return new QuotameshError('KEY_DEFINITION_CHANGED', { what: entryText(entry), reason });
}

function nameOf({ kind, name }: KeyEntry): string {
  return kind === 'template' ? templateEntry(name) : keyEntry(name);
}

function atRunTime({ registry }: ChangeParts, entry: KeyEntry): GroupDefinition | null {
  return registry?.stateOf(nameOf(entry)).definition ?? null;
}

function inYaml({ templates }: ChangeParts, { kind, name }: KeyEntry): GroupDefinition | null {
  if (kind === 'template') {
    const template = templates.configured(name);
    return template === null ? null : leastTemplate(template);
  }
  const template = templates.templateOf(name);
  const override = template?.overrides.find((one) => one.name === name);
  return template === null || override === undefined ? null : leastOverride(template, override);
}
