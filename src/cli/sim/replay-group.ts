import type { WorldSettings } from '../../../sim/cluster/world.js';
import { loadConfig } from '../../config/files/load-config.js';
import type { GroupOverrides } from '../../config/read/environment.js';
import { resolveConfig } from '../../config/read/resolve-config.js';
import { maxRequestOf } from '../../config/resolved/max-request.js';
import type { GroupConfig, ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { Rates } from '../../core/base/vocabulary.js';
import { didYouMean } from '../../input/nearest-name.js';
import { VERSION } from '../../package/version.js';
import type { ReplayCommandOptions } from './replay-command.js';
import { rateFlag, wrongFlag, wrongUse } from './replay-flags.js';

/** The group that a trace is played against, with all settings as a node would have them. */
export interface ReplayedGroup {
  readonly name: string;
  readonly strategy: string;
  /** Messages and bytes per second of the direction in question; Infinity = unlimited. */
  readonly quota: Rates;
  readonly settings: WorldSettings;
  /** By a quota per second of the nodes, which at a --speed is another than that of the file. */
  readonly maxRequestAt: (quota: Rates) => Rates;
}

/** From --config, --group, --set and the quota flags; without a configuration the defaults of a node. */
export async function replayedGroup(options: GroupFlags): Promise<ReplayedGroup> {
  const settings = settingsGiven(options.set ?? []);
  const { config, group } = await configured(options, settings);
  const { direction } = options;
  const [messages, bytes] = group.quota[direction];
  const quota = [
    options.quota === undefined ? messages : rateFlag('--quota', options.quota, 'rate'),
    options.quotaBytes === undefined ? bytes : rateFlag('--quota-bytes', options.quotaBytes, 'byte-rate'),
  ] as const;
  const { name, strategy, cost } = group;
  // The simulated clusters publish.
  const played = { ...group, cost: { publish: cost[direction], dispatch: cost[direction] } };
  return {
    name,
    strategy,
    quota,
    settings: worldSettings(config, played),
    maxRequestAt: (rates) => maxRequestOf({ ...group, quota: { publish: rates, dispatch: rates } }, 'publish'),
  };
}

/** The flags that name a group, its settings, and its quota. */
export type GroupFlags = Pick<ReplayCommandOptions, 'config' | 'group' | 'set' | 'direction' | 'quota' | 'quotaBytes'>;

async function configured(
  { config: file, group: wanted }: GroupFlags,
  settings: ReadonlyMap<string, string>,
): Promise<{ readonly config: ResolvedConfig; readonly group: GroupConfig }> {
  if (file === undefined) {
    if (wanted !== undefined) throw wrongUse('--group names a group of a recording or of --config FILE');
    const raw = { cluster: 'replay', topic: 'memory', groups: { [UNCONFIGURED]: {} } };
    const config = resolveConfig(raw, { source: '(replay)', overrides: overridesOf(UNCONFIGURED, settings) });
    return { config, group: config.groups[0] as GroupConfig };
  }
  const written = await loadConfig({ file, env: process.env });
  const { name } = groupOf(written, file, wanted);
  if (written.topic.kind === 'none') {
    throw wrongUse(`${file} has topic: none, with which nodes share nothing: play it as --system static`);
  }
  // Laid over the file once its group is known: a name that is wrong must not become a new group.
  const config =
    settings.size === 0
      ? written
      : await loadConfig({ file, env: process.env, overrides: overridesOf(name, settings) });
  const group = groupOf(config, file, name);
  if (!group.enabled) throw wrongUse(`group ${name} of ${file} has enabled: false, so nothing limits it`);
  return { config, group };
}

const UNCONFIGURED = 'trace';

function overridesOf(name: string, settings: ReadonlyMap<string, string>): { readonly group: GroupOverrides } {
  return { group: { name, settings } };
}

function groupOf({ groups }: ResolvedConfig, file: string, wanted: string | undefined): GroupConfig {
  const names = groups.map(({ name }) => name);
  const group = wanted === undefined && groups.length === 1 ? groups[0] : groups.find(({ name }) => name === wanted);
  if (group !== undefined) return group;
  if (wanted === undefined) throw wrongUse(`${file} has ${groups.length} groups, name one with --group`);
  throw wrongFlag('--group', `a group of ${file}`, wanted, didYouMean(wanted, names));
}

/** `burstMs=500ms`, `quota.publish.messagesPerSecond=2k`: what they say is the configuration's to judge. */
function settingsGiven(texts: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    texts.map((text) => {
      const [, name, value] = /^([A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*)=(.+)$/.exec(text) ?? [];
      if (name === undefined || value === undefined) {
        throw wrongFlag('--set', 'name=value (e.g. strategy=proportional or burstMs=500ms)', text);
      }
      return [name, value];
    }),
  );
}

function worldSettings(config: ResolvedConfig, group: GroupConfig): WorldSettings {
  const { cluster, timing, sampleIntervalMs, limiting, costs } = config;
  return {
    ...timing,
    cluster,
    sampleIntervalMs,
    limiting,
    costs,
    groups: [group],
    version: VERSION,
    partitions: 1,
  };
}
