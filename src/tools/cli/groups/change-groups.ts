import { readFile } from 'node:fs/promises';
import { stringify } from 'yaml';
import { printable } from '../../../base/errors/printable.js';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { isMapping } from '../../../base/input/mapping.js';
import { formatPath } from '../../../config/setting/config-error.js';
import { segmentOf } from '../../../config/setting/path-segment.js';
import { SECONDS_OF, SHORT_UNIT } from '../../../config/setting/quantity.js';
import { rateKey, shownRate, spelledIn, unitIn } from '../../../config/setting/written-rate.js';
import { parseYaml } from '../../../config/yaml/parse-yaml.js';
import type {
  ChangedGroup,
  ChangePreview,
  CostedGroup,
  DirectionPreview,
  GroupPreview,
  QuotaInForce,
} from '../../../node/api/change-answers.js';
import type { DirectionStatus, GroupStatus, RateStatus } from '../../../node/api/node-status.js';
import type { AttachedTo } from '../../../node/groups/changes/attaching.js';
import type { SampleOf } from '../../node-client/answer-sample.js';
import type { NodeAddress } from '../../node-client/node-address.js';
import { allPages, type Change, change, get, nodeAddress } from '../../node-client/node-requests.js';
import { print, usage } from '../../terminal/print.js';
import { textTable } from '../../terminal/text-table.js';
import { ATTACHED } from './attach-groups.js';
import type { GroupOptions } from './group-command.js';

type Summary = Pick<GroupStatus, 'group' | 'origin' | 'revision'> & {
  readonly publish: Pick<DirectionStatus, 'quota' | 'quotaAsWritten'>;
  readonly dispatch: Pick<DirectionStatus, 'quota' | 'quotaAsWritten'>;
};

const QUOTAS = { quota: {}, quotaAsWritten: {} };
const SUMMARY: SampleOf<Summary> = { group: '', origin: '', revision: 0, publish: QUOTAS, dispatch: QUOTAS };

export const DEFINITION_SAMPLE: SampleOf<CostedGroup> = { group: '', revision: 0, definition: {}, readPageBytes: 0 };

type Changed = ChangedGroup | ChangePreview;

/** Returns a sample of the answer to a change. */
export function changeSample(dryRun = false) {
  return dryRun ? { dryRun: true } : { revision: 0, definition: {} };
}

export async function listGroups({ json = false, ...options }: GroupOptions): Promise<void> {
  const groups = await allPages<Summary>(nodeAddress(options), 'groups', SUMMARY);
  if (json) {
    print(JSON.stringify({ groups }));
    return;
  }
  const head = ['group', 'publish msg/s', 'publish B/s', 'dispatch msg/s', 'dispatch B/s', 'from', 'revision'];
  const rows = groups.map(({ group, publish, dispatch, origin, revision }) => {
    const rates = [publish, dispatch].flatMap((side) => [quotaText(side, 'messages'), quotaText(side, 'bytes')]);
    return [group, ...rates, origin, String(revision)];
  });
  print(textTable(head, rows, [...head.slice(1, 5), 'revision']).join('\n'));
}

/** Writes `1000` in the column's unit, or `5/min` as written. */
function quotaText({ quota, quotaAsWritten }: Summary['publish'], name: 'messages' | 'bytes'): string {
  const perSecond = quota[rateKey(name)];
  if (perSecond === null) return '–';
  return shownRate(spelledIn(quotaAsWritten, name) ?? { amount: perSecond, per: 'second' });
}

export async function getGroup(name: string, { json = false, ...options }: GroupOptions): Promise<void> {
  const found = await get<CostedGroup>(nodeAddress(options), `${groupPath(name)}/definition`, DEFINITION_SAMPLE);
  print(json ? JSON.stringify(found) : yamlOf([found]));
}

export async function setGroup(name: string, pairs: readonly string[], options: GroupOptions): Promise<void> {
  const node = nodeAddress(options);
  const { file, ifRevision: expected, dryRun } = options;
  rejectWrongSource(file, pairs);
  if (file === undefined) {
    report({ group: name }, await patchOrMake(node, name, patchOf(pairs), { expected, dryRun }), previewText, options);
    return;
  }
  const asked = { method: 'PUT', path: groupPath(name), body: await fromFile(file), expected, dryRun } as const;
  report({ group: name }, await change<Changed>(node, asked, changeSample(dryRun)), previewText, options);
}

/** Patches a group, or makes a missing one. */
export async function patchOrMake(
  node: NodeAddress,
  name: string,
  body: Readonly<Record<string, unknown>>,
  { expected, dryRun }: Pick<Change, 'expected' | 'dryRun'> = {},
): Promise<Changed | null> {
  const path = groupPath(name);
  const exists =
    expected !== 'none' && (await allPages<Summary>(node, 'groups', SUMMARY)).some(({ group }) => group === name);
  if (exists) return change<Changed>(node, { method: 'PATCH', path, body, expected, dryRun }, changeSample(dryRun));
  return change<Changed>(
    node,
    { method: 'PUT', path, body, expected: expected ?? 'none', dryRun },
    changeSample(dryRun),
  );
}

export async function deleteGroupAtNode(name: string, options: GroupOptions): Promise<void> {
  const { ifRevision: expected, dryRun, force } = options;
  const asked = { method: 'DELETE', path: groupPath(name), expected, dryRun, force } as const;
  report(
    { group: name },
    await change<Changed>(nodeAddress(options), asked, changeSample(dryRun)),
    previewText,
    options,
  );
}

export async function exportGroups({ json = false, all = false, ...options }: GroupOptions): Promise<void> {
  const node = nodeAddress(options);
  const names = (await allPages<Summary>(node, 'groups', SUMMARY)).filter(({ origin }) => all || origin === 'run-time');
  const groups: CostedGroup[] = [];
  for (const { group } of names)
    groups.push(await get<CostedGroup>(node, `${groupPath(group)}/definition`, DEFINITION_SAMPLE));
  const attached = await allPages<AttachedTo>(node, 'attachments', ATTACHED);
  const attachments = attached.filter(({ origin }) => all || origin === 'run-time');
  print(json ? JSON.stringify({ groups, attachments }) : yamlOf(groups, attachments));
}

export function groupPath(name: string): string {
  return `/v1/groups/${segmentOf(name)}`;
}

function yamlOf(groups: readonly CostedGroup[], attached: readonly AttachedTo[] = []): string {
  const scopes = Object.fromEntries(attached.map(({ scope, attachment }) => [scope, attachment]));
  return stringify({
    ...(attached.length === 0 ? {} : { attachments: { scopes } }),
    groups: Object.fromEntries(groups.map(({ group, definition }) => [group, definition])),
  }).trimEnd();
}

/** Requires settings either from a file or from the command line. */
export function rejectWrongSource(file: string | undefined, pairs: readonly string[]): void {
  if (file === undefined && pairs.length === 0) throw usage('name at least one setting=value, or a --file');
  if (file !== undefined && pairs.length > 0) throw usage('--file has all settings: name either it or setting=value');
}

/** Reads `a.b=1` as { a: { b: 1 } }, `a.b=5k` as { a: { b: '5k' } }; the node reads values like YAML's. */
export function patchOf(pairs: readonly string[]): Readonly<Record<string, unknown>> {
  const patch: Record<string, unknown> = Object.create(null);
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    if (at <= 0) throw usage(`${JSON.stringify(pair)} is not setting=value`);
    const key = pair.slice(0, at);
    const text = pair.slice(at + 1);
    // An unset variable of a shell must not take a limit away.
    if (text === '') throw usage(`${pair} has no value; ${key}=null takes the key away`);
    const keys = key.split('.');
    let below = patch;
    for (const part of keys.slice(0, -1)) {
      below[part] ??= Object.create(null);
      if (!isMapping(below[part])) throw usage(`${pair} stands below a key that has a value of its own`);
      below = below[part];
    }
    below[keys.at(-1) as string] = sentAs(text);
  }
  return patch;
}

/** Sends a number only if it prints back as written: definitions are shown as sent. */
function sentAs(text: string): unknown {
  if (/^(null|true|false)$/.test(text)) return JSON.parse(text);
  return String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Reads a group alone, or below groups.<name> as in a configuration. */
export async function fromFile(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new QuotameshError('CONFIG_UNREADABLE', { file, reason: error.message });
  });
  const { raw, mistakes } = parseYaml(text);
  if (mistakes.length === 0 && raw !== null) return raw;
  const [reason = 'it is empty; {} is a group without settings'] = mistakes.map(
    ({ path, location, problem, remedy }) => `line ${location.line}: ${formatPath(path)} ${problem}. ${remedy}`,
  );
  throw new QuotameshError('CONFIG_UNREADABLE', { file, reason });
}

interface Warned {
  readonly warnings?: readonly string[];
  readonly strict?: QuotaInForce | null;
}

/** Prints the answer to a change; null = deleted. @param entry its last member is the name */
export function report<
  Made extends Warned & { readonly revision: number },
  Preview extends Warned & { readonly dryRun: true },
>(
  entry: Readonly<Record<string, string>>,
  made: Made | Preview | null,
  textOf: (preview: Preview) => string,
  { json = false }: Pick<GroupOptions, 'json'>,
): void {
  if (json) print(JSON.stringify(made ?? { ...entry, deleted: true }));
  else if (made !== null && 'dryRun' in made) print(textOf(made));
  else print(printable(`${Object.values(entry).at(-1)}: ${made === null ? 'deleted' : `revision ${made.revision}`}`));
  if (!json && made?.strict?.isInForce === false) print(printable(awaitedText(made.strict)));
  if (!json) for (const warning of made?.warnings ?? []) print(printable(`warning: ${warning}`));
}

/** Says what the quota of a strict group waits for. */
function awaitedText({ waitsFor, withinMs }: QuotaInForce): string {
  const nodes = waitsFor.length === 0 ? 'what is on its way' : waitsFor.join(', ');
  return `not in force yet: it waits for ${nodes}, ${withinMs / 1000} s at most while the log works`;
}

/** Writes every node's shares before and after an unmade change. */
function previewText({ group, before, after, definition }: ChangePreview): string {
  const title = definition === null ? `${group}: would be gone` : `${group}: nothing is changed, this would be`;
  const rows = (['publish', 'dispatch'] as const).flatMap((direction) => {
    return (['messages', 'bytes'] as const).flatMap((name) => {
      const sides = { before: before?.[direction], after: after?.[direction] };
      // The unit of time is that of the preview.
      const per = unitIn((sides.after ?? sides.before)?.quotaAsWritten, name);
      const title = `${direction} ${name === 'messages' ? 'msg' : 'B'}/${SHORT_UNIT[per]}`;
      return rowsOf(title, { ...sides, key: rateKey(name), seconds: SECONDS_OF[per] });
    });
  });
  const table = textTable(['', 'NODE', 'DEMAND', 'SHARE', 'THEN'], rows, ['DEMAND', 'SHARE', 'THEN']);
  return [printable(title), ...(rows.length === 0 ? ['no quota, before and after'] : table)].join('\n');
}

interface Sides {
  readonly key: keyof RateStatus;
  /** Seconds that all figures are per. */
  readonly seconds: number;
  readonly before: GroupPreview['publish'] | undefined;
  readonly after: GroupPreview['publish'] | undefined;
}

function rowsOf(title: string, { key, seconds, before, after }: Sides): string[][] {
  const shown = (rate: number | null, target: number | null) => shownPer(seconds, rate, target);
  const targets = [before, after].map((side) => side?.target[key] ?? null);
  if (targets.every((target) => target === null)) return [];
  const nodes = (after ?? before)?.nodes ?? [];
  const share = (side: DirectionPreview | undefined, nodeId: string) => {
    if (side === undefined) return '–';
    return shown(side.nodes.find((node) => node.nodeId === nodeId)?.share[key] ?? null, side.target[key]);
  };
  const rows = nodes.map(({ nodeId, demand }, at) => {
    return [at === 0 ? title : '', nodeId, shown(demand[key], 0), share(before, nodeId), share(after, nodeId)];
  });
  const [first, then] = [before, after].map((side) => (side === undefined ? '–' : shown(side.target[key], 0)));
  return [...rows, ['', 'of', '', first ?? '', then ?? '']];
}

/** Shows a rate; without a target there is no limit. */
function shownPer(seconds: number, rate: number | null, target: number | null): string {
  if (rate === null || target === null) return 'unlimited';
  const amount = rate * seconds;
  return amount.toLocaleString('en-US', { maximumFractionDigits: amount < 100 ? 1 : 0 });
}
