import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { configFiles } from '../../config/files/config-files.js';
import { ConfigError, type Mistake } from '../../config/setting/config-error.js';
import { mergeFiles } from '../../config/yaml/merge-files.js';
import { parseYaml } from '../../config/yaml/parse-yaml.js';
import { QuotameshError } from '../../errors/quotamesh-error.js';
import type { PreviewedGroup } from '../../groups/changes/put-groups.js';
import { isSameValue } from '../../groups/same-value.js';
import { isMapping, type Mapping } from '../../input/mapping.js';
import type { NodeAddress } from '../../node-client/node-address.js';
import { change, nodeAddress } from '../../node-client/node-requests.js';
import type { GroupOptions } from './group-command.js';

/**
 * `quotamesh group apply`: groups become as files say, all or none; groups that no file names stay as they are. The
 * change holds only for the revisions that the diff showed.
 */
export async function applyGroups(options: GroupOptions): Promise<void> {
  const { json = false, dryRun = false, yes = false } = options;
  const written = readGroups(options.file as string);
  const node = nodeAddress(options);
  const planned = await plan(node, written);
  const changes = planned.filter(({ lines }) => lines.length > 0);
  const unchanged = planned.length - changes.length;
  if (!json) print(changes.flatMap(({ name, lines, isNew }) => [`${name}${isNew ? ' (new)' : ''}`, ...lines]));
  if (!dryRun && changes.length > 0 && !yes && !(await isConfirmed(changes.length))) {
    print(['nothing is changed']);
    return;
  }
  const applied = dryRun || changes.length === 0 ? 0 : await applyAll(node, changes, written);
  if (json) {
    const shown = changes.map(({ name, isNew, before, after }) => ({ group: name, isNew, before, after }));
    print([JSON.stringify({ dryRun, applied, unchanged, changes: shown })]);
    return;
  }
  const done = dryRun ? `${changes.length} would change (nothing is changed)` : `${applied} changed`;
  print([`${planned.length} groups: ${done}, ${unchanged} are so already`]);
}

interface PlannedGroup {
  readonly name: string;
  readonly isNew: boolean;
  /** What the change expects. */
  readonly expected: number | 'none';
  readonly before: Mapping | null;
  readonly after: Mapping;
  /** The diff; empty = the group is so already. */
  readonly lines: readonly string[];
}

async function plan(node: NodeAddress, written: Mapping): Promise<PlannedGroup[]> {
  if (Object.keys(written).length === 0) return [];
  const groups = Object.fromEntries(Object.entries(written).map(([name, definition]) => [name, definition ?? {}]));
  const asked = { method: 'PUT', path: 'v1/groups', body: { groups }, dryRun: true } as const;
  const preview = await change<{ readonly groups: readonly PreviewedGroup[] }>(node, asked);
  return (preview?.groups ?? []).map(({ group: name, isNew, origin, revision, before, after }) => {
    // What YAML defines is shown with every default: only a definition of run time can be the same text.
    const isSame = origin === 'run-time' && isSameValue(before, after);
    const lines = isSame ? [] : diffOf(before, after);
    return { name, isNew, expected: isNew ? 'none' : revision, before, after, lines };
  });
}

/** Returns how many were changed. */
async function applyAll(node: NodeAddress, changes: readonly PlannedGroup[], written: Mapping): Promise<number> {
  const groups = Object.fromEntries(changes.map(({ name }) => [name, written[name] ?? {}]));
  const ifRevision = Object.fromEntries(changes.map(({ name, expected }) => [name, expected]));
  await change(node, { method: 'PUT', path: 'v1/groups', body: { groups, ifRevision } });
  return changes.length;
}

/** `- path: old`, `+ path: new` for each setting that differs. */
function diffOf(before: Mapping | null, after: Mapping): string[] {
  const [old, now] = [settingsOf(before ?? {}), settingsOf(after)];
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  const lines = paths.flatMap((path) => {
    const [was, is] = [old.get(path), now.get(path)];
    if (was === is) return [];
    return [was === undefined ? [] : `  - ${path}: ${was}`, is === undefined ? [] : `  + ${path}: ${is}`].flat();
  });
  return lines.length > 0 ? lines : ['  + (no settings of its own)'];
}

function settingsOf(definition: Mapping, above = ''): Map<string, string> {
  return new Map(
    Object.entries(definition).flatMap(([key, value]): (readonly [string, string])[] =>
      isMapping(value) ? [...settingsOf(value, `${above}${key}.`)] : [[above + key, JSON.stringify(value)]],
    ),
  );
}

/** Groups as `group export` writes them: below `groups:`. Throws CONFIG_UNREADABLE, CONFIG_INVALID. */
function readGroups(path: string): Mapping {
  const unreadable = (reason: string) => new QuotameshError('CONFIG_UNREADABLE', { file: path, reason });
  const texts = filesOf(path, unreadable);
  const { raw, mistakes } = mergeFiles(texts.map(({ file, text }) => ({ file, parsed: parseYaml(text) })));
  if (mistakes.length > 0) throw new ConfigError(path, mistakes as readonly Mistake[]);
  if (!isMapping(raw) || !isMapping(raw.groups)) throw unreadable('it must be a mapping with the key groups');
  const others = Object.keys(raw).filter((key) => key !== 'groups');
  if (others.length > 0) throw unreadable(`only groups are applied, and it also has ${others.join(', ')}`);
  return raw.groups;
}

function filesOf(path: string, unreadable: (reason: string) => QuotameshError) {
  try {
    return configFiles(path).map((file) => ({ file, text: readFileSync(file, 'utf8') }));
  } catch (error) {
    throw unreadable((error as Error).message);
  }
}

async function isConfirmed(count: number): Promise<boolean> {
  if (!process.stdin.isTTY) throw new QuotameshError('USAGE', { reason: 'without a terminal say --yes or --dry-run' });
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await terminal.question(`Change ${count} groups? [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

function print(lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}
