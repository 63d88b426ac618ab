import { didYouMean } from '../../src/base/input/nearest-name.js';
import { VERSION } from '../../src/base/package/version.js';
import { loadConfig } from '../../src/config/files/load-config.js';
import type { GroupOverrides, OverriddenSetting } from '../../src/config/read/environment.js';
import { resolveConfig } from '../../src/config/read/resolve-config.js';
import { maxRequestOf } from '../../src/config/resolved/max-request.js';
import { quotaAsWritten } from '../../src/config/resolved/rates-as-written.js';
import type { GroupConfig, KeyTemplate, ResolvedConfig } from '../../src/config/resolved/resolved-config.js';
import type { WrittenRate } from '../../src/config/setting/written-rate.js';
import type { Direction, Rates } from '../../src/core/base/vocabulary.js';
import { mostSpecific, settingsOfKey } from '../../src/node/groups/keys/settings-of-key.js';
import { usage } from '../../src/tools/terminal/print.js';
import type { WorldSettings } from '../cluster/world.js';
import type { ReplayCommandOptions } from './replay-command.js';
import { checkRate, wrongFlag } from './replay-flags.js';

/** Group of a replay, with all settings of a node. */
export interface ReplayedGroup {
  readonly kind: GroupKind;
  readonly name: string;
  readonly strategy: string;
  /** Messages/s and bytes/s; Infinity = unlimited. */
  readonly quota: Rates;
  /** Quota in its written unit of time; null = unlimited. */
  readonly quotaTold: QuotaTold;
  readonly settings: WorldSettings;
  /** Takes a quota per second of the nodes' clock, whatever --speed. */
  readonly maxRequestAt: (quota: Rates) => Rates;
}

/** Kind of a name; none = no configuration. */
export type GroupKind = 'none' | 'group' | 'template' | 'key';

export type QuotaTold = readonly [messages: WrittenRate | null, bytes: WrittenRate | null];

/** Builds the group of the flags, or of a node's defaults. Flags: --config, --group, --set, quotas. */
export async function replayedGroup(options: GroupFlags): Promise<ReplayedGroup> {
  const { config, kind, group } = await configured(options, settingsGiven(options));
  const { direction } = options;
  const { name, strategy } = group;
  const played = publishing(group, direction);
  return {
    kind,
    name,
    strategy,
    quota: group.quota[direction],
    quotaTold: [quotaAsWritten(group, direction, 0), quotaAsWritten(group, direction, 1)],
    settings: worldSettings(config, played),
    maxRequestAt: (rates) => maxRequestOf({ ...played, quota: { publish: rates, dispatch: rates } }, 'publish'),
  };
}

/** Flags of a group, its settings and quota. */
type GroupFlags = Pick<ReplayCommandOptions, 'config' | 'group' | 'per' | 'set' | 'direction' | 'quota' | 'quotaBytes'>;

interface Named {
  readonly kind: GroupKind;
  readonly at: readonly string[];
  readonly group: GroupConfig;
}

async function configured(
  { config: file, group: wanted, per }: GroupFlags,
  settings: GroupOverrides['settings'],
): Promise<Named & { readonly config: ResolvedConfig }> {
  if (file === undefined) {
    if (wanted !== undefined) throw usage('--group names a group of a recording or of --config FILE');
    const at = ['groups', UNCONFIGURED];
    const raw = { cluster: 'replay', topic: 'memory', groups: { [UNCONFIGURED]: {} } };
    const config = resolveConfig(raw, { source: '(replay)', overrides: { group: { at, settings } } });
    return { config, kind: 'none', at, group: config.groups[0] };
  }
  const written = await loadConfig({ file, env: process.env });
  const named = groupOf(written, file, wanted);
  const { at, kind } = named;
  if (written.topic.kind === 'none') {
    throw usage(`${file} has topic: none, with which nodes share nothing: play it as --system static`);
  }
  if (kind === 'template' && per === undefined) {
    throw usage(`${named.group.name} is a template of keys, which have a quota each: name their column with --per`);
  }
  // After its group is known: a wrong name must not become a new group.
  const config =
    settings.size === 0
      ? written
      : await loadConfig({ file, env: process.env, overrides: { group: { at, settings } } });
  const found = groupOf(config, file, named.group.name);
  if (!found.group.enabled)
    throw usage(`group ${found.group.name} of ${file} has enabled: false, so nothing limits it`);
  return { config, ...found };
}

const UNCONFIGURED = 'trace';

function groupOf({ groups, keys: { templates } }: ResolvedConfig, file: string, wanted: string | undefined): Named {
  const all: readonly Named[] = [
    ...groups.map((group) => ({ kind: 'group' as const, at: ['groups', group.name], group })),
    ...templates.map(({ pattern, group }) => ({ kind: 'template' as const, at: ['keys', pattern], group })),
  ];
  const [first] = all;
  if (wanted === undefined && first !== undefined && all.length === 1) return first;
  if (wanted === undefined) {
    const count = [
      `${groups.length} groups`,
      ...(templates.length === 0 ? [] : [`${templates.length} templates of keys`]),
    ];
    throw usage(`${file} has ${count.join(' and ')}, name one with --group`);
  }
  const named = all.find(({ group }) => group.name === wanted) ?? keyOf(templates, wanted);
  if (named !== null) return named;
  const names = all.map(({ group }) => group.name);
  throw wrongFlag('--group', `a group of ${file}, or one of its keys`, wanted, didYouMean(wanted, names));
}

/** Finds a single key, perhaps with own settings. */
function keyOf(templates: readonly KeyTemplate[], name: string): Named | null {
  const template = mostSpecific(templates, name);
  const group = settingsOfKey(templates, name);
  if (template === null || group === null) return null;
  const isOwn = template.overrides.some((own) => own.name === name);
  const at = ['keys', template.pattern, ...(isOwn ? ['overrides', name] : [])];
  return { kind: 'key', at, group: { ...group, name } };
}

/** Gathers `--set` and `--quota`, whose flags win, for the configuration's checks. */
function settingsGiven({ set = [], direction, quota, quotaBytes }: GroupFlags): GroupOverrides['settings'] {
  const given = new Map<string, OverriddenSetting>();
  for (const text of set) {
    const [, name, value] = /^([A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*)=(.+)$/.exec(text) ?? [];
    if (name === undefined || value === undefined) {
      throw wrongFlag('--set', 'name=value (e.g. strategy=proportional or burst=2s)', text);
    }
    given.set(name, { text: value, flag: `--set ${name}` });
  }
  for (const [name, flag, text, kind] of [
    ['messages', '--quota', quota, 'rate'],
    ['bytes', '--quota-bytes', quotaBytes, 'byte-rate'],
  ] as const) {
    if (text === undefined) continue;
    checkRate(flag, text, kind);
    given.set(`quota.${direction}.${name}PerSecond`, { text, flag });
  }
  return given;
}

/** Moves the played direction's settings to publish. */
function publishing(group: GroupConfig, direction: Direction): GroupConfig {
  const { cost, burst } = group;
  const { ofQuota } = burst;
  return {
    ...group,
    cost: { publish: cost[direction], dispatch: cost[direction] },
    burst:
      ofQuota === undefined
        ? burst
        : { ...burst, ofQuota: { publish: ofQuota[direction], dispatch: ofQuota[direction] } },
  };
}

function worldSettings(config: ResolvedConfig, group: GroupConfig): WorldSettings {
  const { cluster, timing, sampleIntervalMs, limiting, costs } = config;
  return { ...timing, cluster, sampleIntervalMs, limiting, costs, groups: [group], version: VERSION, partitions: 1 };
}
