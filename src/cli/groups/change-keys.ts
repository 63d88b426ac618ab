import { stringify } from 'yaml';
import { mergedLayers } from '../../config/read/merged-layers.js';
import type { QuotameshError } from '../../errors/quotamesh-error.js';
import type { DefinedKeys, KeyEntry } from '../../groups/changes/change-keys.js';
import { change, get, nodeAddress } from '../../node-client/node-requests.js';
import { textTable } from '../../terminal/text-table.js';
import { fromFile, patchOf, usage } from './change-groups.js';
import type { KeyOptions } from './key-command.js';

export async function listTemplates({ json = false, ...options }: KeyOptions): Promise<void> {
  const { definitions } = await get<{ readonly definitions: readonly DefinedKeys[] }>(
    nodeAddress(options),
    '/v1/key-templates',
  );
  if (json) {
    print(JSON.stringify({ definitions }));
    return;
  }
  const rows = definitions.map(({ kind, name, origin, revision }) => [name, kind, origin, String(revision)]);
  print(textTable(['name', 'kind', 'from', 'revision'], rows, ['revision']).join('\n'));
}

export async function getKeys(entry: KeyEntry, { json = false, ...options }: KeyOptions): Promise<void> {
  const found = await get<DefinedKeys>(nodeAddress(options), definitionOf(entry));
  print(json ? JSON.stringify(found) : stringify({ [entry.name]: found.definition }).trimEnd());
}

export async function setKeys(entry: KeyEntry, pairs: readonly string[], options: KeyOptions): Promise<void> {
  const { json = false, file, ifRevision } = options;
  if (file === undefined && pairs.length === 0) throw usage('name at least one key=value, or a --file');
  if (file !== undefined && pairs.length > 0) throw usage('--file has all keys: name either it or key=value');
  const node = nodeAddress(options);
  const before = file === undefined && ifRevision !== 'none' ? await found(options, entry) : null;
  const body = file === undefined ? mergedLayers(patchOf(pairs), before?.definition ?? {}) : await fromFile(file);
  // Settings are laid over what was read: if that is another meanwhile, the node refuses.
  const expected = ifRevision ?? (before === null || before.revision === 0 ? undefined : String(before.revision));
  const made = await change<DefinedKeys>(node, { method: 'PUT', path: pathOf(entry), body, expected });
  if (made !== null) print(json ? JSON.stringify(made) : `${made.name}: revision ${made.revision}`);
}

export async function deleteKeys(entry: KeyEntry, options: KeyOptions): Promise<void> {
  const { json = false, ifRevision: expected } = options;
  await change(nodeAddress(options), { method: 'DELETE', path: pathOf(entry), expected });
  print(json ? JSON.stringify({ ...entry, deleted: true }) : `${entry.name}: deleted`);
}

/** Null where it is not defined. */
async function found(options: KeyOptions, entry: KeyEntry): Promise<DefinedKeys | null> {
  try {
    return await get<DefinedKeys>(nodeAddress(options), definitionOf(entry));
  } catch (error) {
    if ((error as QuotameshError).code === 'ASKED_WRONG') return null;
    throw error;
  }
}

function pathOf({ kind, name }: KeyEntry): string {
  return `/v1/${kind === 'key' ? 'keys' : 'key-templates'}/${encodeURIComponent(name)}`;
}

function definitionOf(entry: KeyEntry): string {
  return entry.kind === 'key' ? `${pathOf(entry)}/definition` : pathOf(entry);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
