import { printable } from '../../../base/errors/printable.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { isMapping } from '../../../base/input/mapping.js';
import type { DefinedKeys, KeyEntry } from '../../../node/api/change-answers.js';
import { isSameValue } from '../../../node/groups/least-definition.js';
import type { NodeAddress } from '../../node-client/node-address.js';
import { change, nodeAddress } from '../../node-client/node-requests.js';
import { print } from '../../terminal/print.js';
import { diffOf } from './apply-groups.js';
import { fromFile } from './change-groups.js';
import { DEFINED, pathOfEntry, readTemplates } from './change-keys.js';
import type { KeyOptions } from './key-command.js';

/**
 * `quotamesh key apply`: makes templates and single keys of run time as a file with the answer of `GET
 * /v1/key-templates`, one by one, templates first. Leaves unnamed ones, and YAML's own. Revisions must be those of the
 * diff.
 */
export async function applyKeys({ file, dryRun = false, json = false, ...options }: KeyOptions): Promise<void> {
  const written = await readEntries(file as string);
  const node = nodeAddress(options);
  const planned = await plan(node, written);
  const changes = planned.filter(({ lines }) => lines.length > 0);
  if (!json) for (const { kind, name, lines } of changes) print(...[`${kind} ${name}`, ...lines].map(printable));
  if (!dryRun) {
    for (const { kind, name, definition: body, expected } of changes) {
      await change(node, { method: 'PUT', path: pathOfEntry({ kind, name }), body, expected }, DEFINED);
    }
  }
  const unchanged = planned.length - changes.length;
  if (json) {
    const shown = changes.map(({ kind, name }) => ({ kind, name }));
    print(JSON.stringify({ dryRun, applied: dryRun ? 0 : changes.length, unchanged, changes: shown }));
    return;
  }
  const told = dryRun ? 'would change (nothing is changed)' : 'changed';
  print(`templates and keys: ${changes.length} of ${planned.length} ${told}`);
}

async function plan(node: NodeAddress, written: readonly DefinedKeys[]) {
  const known = new Map((await readTemplates(node)).map((entry) => [textOf(entry), entry]));
  return written.map(({ kind, name, definition }) => {
    const now = known.get(textOf({ kind, name }));
    const isSame = now?.origin === 'run-time' && isSameValue(now.definition, definition);
    const lines = isSame ? [] : diffOf(now?.definition ?? null, definition);
    return { kind, name, definition, expected: now === undefined ? 'none' : String(now.revision), lines };
  });
}

function textOf({ kind, name }: KeyEntry): string {
  return `${kind} ${name}`;
}

/** Reads definitions of run time. Throws CONFIG_UNREADABLE. */
async function readEntries(file: string): Promise<DefinedKeys[]> {
  const read = await fromFile(file);
  const definitions: unknown = isMapping(read) ? read.definitions : null;
  if (!Array.isArray(definitions) || !definitions.every(isEntry)) {
    throw new QuotameshError('CONFIG_UNREADABLE', { file, reason: 'it must be the answer of GET /v1/key-templates' });
  }
  const made = definitions.filter(({ origin }) => origin === 'run-time');
  return made.sort((one, other) => Number(one.kind === 'key') - Number(other.kind === 'key'));
}

function isEntry(entry: unknown): entry is DefinedKeys {
  if (!isMapping(entry)) return false;
  const { kind, name, origin, definition } = entry;
  return (
    (kind === 'template' || kind === 'key') &&
    typeof name === 'string' &&
    (origin === 'yaml' || origin === 'run-time') &&
    isMapping(definition)
  );
}
