import { stringify } from 'yaml';
import { printable } from '../../../base/errors/printable.js';
import { segmentOf } from '../../../config/setting/path-segment.js';
import type { DefinedKeys, KeyEntry, KeysPreview } from '../../../node/api/change-answers.js';
import type { NodeAddress } from '../../node-client/node-address.js';
import { change, get, nodeAddress } from '../../node-client/node-requests.js';
import { print } from '../../terminal/print.js';
import { textTable } from '../../terminal/text-table.js';
import { fromFile, patchOf, rejectWrongSource } from './change-groups.js';
import type { KeyOptions } from './key-command.js';

export async function listTemplates({ json = false, ...options }: KeyOptions): Promise<void> {
  const definitions = await readTemplates(nodeAddress(options));
  if (json) {
    print(JSON.stringify({ definitions }));
    return;
  }
  const rows = definitions.map(({ kind, name, origin, revision }) => [name, kind, origin, String(revision)]);
  print(textTable(['name', 'kind', 'from', 'revision'], rows, ['revision']).join('\n'));
}

export const DEFINED = { kind: '', name: '', origin: '', revision: 0, definition: {} };
const TEMPLATES = { definitions: [DEFINED] } as const;

/** Reads the templates in force, and keys that run time has changed. */
export async function readTemplates(node: NodeAddress): Promise<readonly DefinedKeys[]> {
  return (await get<{ readonly definitions: readonly DefinedKeys[] }>(node, '/v1/key-templates', TEMPLATES))
    .definitions;
}

export async function getKeys(entry: KeyEntry, { json = false, ...options }: KeyOptions): Promise<void> {
  const path = entry.kind === 'key' ? `${pathOfEntry(entry)}/definition` : pathOfEntry(entry);
  const found = await get<DefinedKeys>(nodeAddress(options), path, DEFINED);
  print(json ? JSON.stringify(found) : stringify({ [entry.name]: found.definition }).trimEnd());
}

export async function setKeys(entry: KeyEntry, pairs: readonly string[], options: KeyOptions): Promise<void> {
  const { file, ifRevision: expected, dryRun } = options;
  rejectWrongSource(file, pairs);
  const path = pathOfEntry(entry);
  const method = file === undefined ? 'PATCH' : 'PUT';
  const body = file === undefined ? patchOf(pairs) : await fromFile(file);
  const made = await change<Changed>(nodeAddress(options), { method, path, body, expected, dryRun }, changed(dryRun));
  if (made !== null) report(made, options);
}

export async function deleteKeysAtNode(entry: KeyEntry, options: KeyOptions): Promise<void> {
  const { json = false, ifRevision: expected, dryRun } = options;
  const path = pathOfEntry(entry);
  const left = await change<Changed>(
    nodeAddress(options),
    { method: 'DELETE', path, expected, dryRun },
    changed(dryRun),
  );
  if (left !== null) report(left, options);
  else print(json ? JSON.stringify({ ...entry, deleted: true }) : `${entry.name}: deleted`);
}

type Changed = DefinedKeys | KeysPreview;

/** Returns a sample of the answer to a change. */
function changed(dryRun = false) {
  return dryRun ? { name: '', dryRun: true } : { name: '', revision: 0 };
}

function report(made: Changed, { json = false }: KeyOptions): void {
  if (json) print(JSON.stringify(made));
  else if (!('dryRun' in made)) print(printable(`${made.name}: revision ${made.revision}`));
  else {
    const { name, before, after } = made;
    print(stringify({ 'nothing is changed': { [name]: { before, after } } }).trimEnd());
  }
}

export function pathOfEntry({ kind, name }: KeyEntry): string {
  return `/v1/${kind === 'key' ? 'keys' : 'key-templates'}/${segmentOf(name)}`;
}
