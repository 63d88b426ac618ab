import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { printable } from '../../../base/errors/printable.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { isMapping, type Mapping } from '../../../base/input/mapping.js';
import { configFiles } from '../../../config/files/config-files.js';
import { ConfigError } from '../../../config/setting/config-error.js';
import { mergeFiles } from '../../../config/yaml/merge-files.js';
import { parseYaml } from '../../../config/yaml/parse-yaml.js';
import type { PreviewedGroup } from '../../../node/api/change-answers.js';
import type { AttachedTo } from '../../../node/groups/changes/attaching.js';
import { isSameValue } from '../../../node/groups/least-definition.js';
import type { NodeAddress } from '../../node-client/node-address.js';
import { allPages, change, nodeAddress } from '../../node-client/node-requests.js';
import { print, usage } from '../../terminal/print.js';
import { differences } from '../look/show-audit.js';
import { ATTACHED, attachmentPath } from './attach-groups.js';
import type { GroupOptions } from './group-command.js';

/**
 * `quotamesh group apply`: makes groups as files say, all or none, then attachments one by one; leaves the rest.
 * Revisions must be those of the diff.
 */
export async function applyGroups(options: GroupOptions): Promise<void> {
  const { json = false, dryRun = false, yes = false } = options;
  const written = readFiles(options.file as string);
  if (!json && sizeOf(written.groups) + sizeOf(written.attachments) === 0) {
    print(`${options.file} names no group: nothing is changed`);
    return;
  }
  const node = nodeAddress(options);
  const planned = await plan(node, written.groups);
  const changes = planned.filter(({ lines }) => lines.length > 0);
  const attaching = await planAttachments(node, written.attachments);
  const count = changes.length + attaching.length;
  if (!json) {
    const all = [...changes, ...attaching];
    const told = all.flatMap(({ name, lines, isNew }) => [`${name}${isNew ? ' (new)' : ''}`, ...lines]);
    print(...told.map(printable));
  }
  if (!dryRun && count > 0 && !yes && !(await isConfirmed(count))) {
    print('nothing is changed');
    return;
  }
  if (!dryRun && changes.length > 0) await applyAll(node, changes, written.groups);
  for (const { scope, after: body, expected } of dryRun ? [] : attaching) {
    await change(node, { method: 'PUT', path: attachmentPath(scope), body, expected }, ATTACHED);
  }
  const unchanged = planned.length - changes.length;
  if (json) {
    const shown = changes.map(({ name, isNew, before, after }) => ({ group: name, isNew, before, after }));
    const scopes = attaching.map(({ scope, isNew, before, after }) => ({ scope, isNew, before, after }));
    const [applied, attached] = dryRun ? [0, 0] : [changes.length, attaching.length];
    print(JSON.stringify({ dryRun, applied, unchanged, changes: shown, attached, attachments: scopes }));
    return;
  }
  const verdict = (what: string, all: number, changed: number) => {
    return `${what}: ${changed} of ${all} ${dryRun ? 'would change (nothing is changed)' : 'changed'}`;
  };
  print(verdict('groups', planned.length, changes.length));
  const attachments = sizeOf(written.attachments);
  if (attachments > 0) print(verdict('attachments', attachments, attaching.length));
}

function sizeOf(mapping: Mapping): number {
  return Object.keys(mapping).length;
}

interface Planned {
  readonly name: string;
  readonly isNew: boolean;
  readonly before: Mapping | null;
  readonly after: Mapping;
  /** Diff; empty = nothing to change. */
  readonly lines: readonly string[];
}

interface PlannedGroup extends Planned {
  readonly expected: number | 'none';
}

const PREVIEW = { groups: [{ group: '', isNew: true, revision: 0, after: {} }] } as const;

async function plan(node: NodeAddress, written: Mapping): Promise<PlannedGroup[]> {
  if (sizeOf(written) === 0) return [];
  const groups = Object.fromEntries(Object.entries(written).map(([name, definition]) => [name, definition ?? {}]));
  const asked = { method: 'PUT', path: 'v1/groups', body: { groups }, dryRun: true } as const;
  const preview = await change<{ readonly groups: readonly PreviewedGroup[] }>(node, asked, PREVIEW);
  return (preview?.groups ?? []).map(({ group: name, isNew, origin, revision, before, after }) => {
    // A group of YAML becomes one of run time, even where it says the same.
    const isSame = origin === 'run-time' && isSameValue(before, after);
    const lines = isSame ? [] : diffOf(before, after);
    return { name, isNew, expected: isNew ? 'none' : revision, before, after, lines };
  });
}

async function applyAll(node: NodeAddress, changes: readonly PlannedGroup[], written: Mapping): Promise<void> {
  const groups = Object.fromEntries(changes.map(({ name }) => [name, written[name] ?? {}]));
  const ifRevision = Object.fromEntries(changes.map(({ name, expected }) => [name, expected]));
  await change(node, { method: 'PUT', path: 'v1/groups', body: { groups, ifRevision } }, { revision: 0 });
}

/** Reads groups, and attachments by path, of `group export`. Throws CONFIG_UNREADABLE, CONFIG_INVALID. */
function readFiles(path: string) {
  const unreadable = (reason: string) => new QuotameshError('CONFIG_UNREADABLE', { file: path, reason });
  const texts = filesOf(path, unreadable);
  const { raw, mistakes } = mergeFiles(texts.map(({ file, text }) => ({ file, parsed: parseYaml(text) })));
  if (mistakes.length > 0) throw new ConfigError(path, mistakes);
  if (!isMapping(raw) || !isMapping(raw.groups)) throw unreadable('it must be a mapping with the key groups');
  const { groups, attachments = {}, ...rest } = raw;
  const { scopes = {}, ...rules } = isMapping(attachments) ? attachments : { scopes: attachments };
  const others = [...Object.keys(rest), ...Object.keys(rules).map((key) => `attachments.${key}`)];
  if (others.length > 0) {
    throw unreadable(`only groups and attachments.scopes are applied, and it also has ${others.join(', ')}`);
  }
  if (!isMapping(scopes)) throw unreadable('attachments.scopes must be a mapping');
  return { groups, attachments: scopes };
}

function filesOf(path: string, unreadable: (reason: string) => QuotameshError) {
  try {
    return configFiles(path).map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  } catch (error) {
    throw unreadable((error as Error).message);
  }
}

async function isConfirmed(count: number): Promise<boolean> {
  if (!process.stdin.isTTY) throw usage('without a terminal say --yes or --dry-run');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`Change ${count} of them? [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

interface PlannedAttachment extends Planned {
  readonly scope: string;
  readonly expected: string;
}

/** Lists differences from `scopes`. Each scope stands before those whose `sameAs` names it. */
async function planAttachments(node: NodeAddress, scopes: Mapping): Promise<PlannedAttachment[]> {
  if (sizeOf(scopes) === 0) return [];
  const there = new Map((await allPages<AttachedTo>(node, 'attachments', ATTACHED)).map((each) => [each.scope, each]));
  const planned = Object.entries(scopes).flatMap(([scope, written]): PlannedAttachment[] => {
    const found = there.get(scope);
    // YAML may name the group alone.
    const after = isMapping(written) ? written : { group: written };
    if (found?.origin === 'run-time' && isSameValue(found.attachment, after)) return [];
    const before = found?.attachment ?? null;
    const expected = String(found?.revision ?? 'none');
    const name = `attachment of ${scope}`;
    return [{ scope, name, isNew: found === undefined, expected, before, after, lines: diffOf(before, after) }];
  });
  return inOrder(planned);
}

/** Orders scopes; a circle stands last, for the node to refuse. */
function inOrder(planned: readonly PlannedAttachment[]): PlannedAttachment[] {
  const waiting = new Set(planned.map(({ scope }) => scope));
  const ordered: PlannedAttachment[] = [];
  for (let left = planned; left.length > 0; ) {
    const free = left.filter(({ after }) => !waiting.has(String(after.sameAs)));
    const next = free.length > 0 ? free : left;
    for (const each of next) waiting.delete(each.scope);
    ordered.push(...next);
    left = left.filter(({ scope }) => waiting.has(scope));
  }
  return ordered;
}

/** Lists `- path: old`, `+ path: new` for each setting that differs. */
export function diffOf(before: Mapping | null, after: Mapping): string[] {
  const lines = differences(before, after)
    .sort((one, other) => (one.path < other.path ? -1 : 1))
    .flatMap(({ path, was, is }) => {
      return [was === undefined ? [] : `  - ${path}: ${was}`, is === undefined ? [] : `  + ${path}: ${is}`].flat();
    });
  return lines.length > 0 ? lines : ['  + (no settings of its own)'];
}
