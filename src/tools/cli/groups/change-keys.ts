import { stringify } from 'yaml';
import { segmentOf } from '../../../config/setting/path-segment.js';
import type { DefinedKeys, KeyEntry, KeysPreview } from '../../../node/api/change-answers.js';
import type { NodeAddress } from '../../node-client/node-address.js';
import { change, get, nodeAddress } from '../../node-client/node-requests.js';
import { print } from '../../terminal/print.js';
import { textTable } from '../../terminal/text-table.js';
import { changeSample, fromFile, patchOf, rejectWrongSource, report } from './change-groups.js';
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
  const asked = { method, path, body, expected, dryRun } as const;
  report(entry, await change<Changed>(nodeAddress(options), asked, changeSample(dryRun)), previewText, options);
}

export async function deleteKeysAtNode(entry: KeyEntry, options: KeyOptions): Promise<void> {
  const { ifRevision: expected, dryRun } = options;
  const asked = { method: 'DELETE', path: pathOfEntry(entry), expected, dryRun } as const;
  report(entry, await change<Changed>(nodeAddress(options), asked, changeSample(dryRun)), previewText, options);
}

type Changed = DefinedKeys | KeysPreview;

function previewText({ name, before, after }: KeysPreview): string {
  return stringify({ 'nothing is changed': { [name]: { before, after } } }).trimEnd();
}

export function pathOfEntry({ kind, name }: KeyEntry): string {
  return `/v1/${kind === 'key' ? 'keys' : 'key-templates'}/${segmentOf(name)}`;
}
