import type { WorldSettings } from '../../../sim/cluster/world.js';
import { defaultSettings } from '../../../sim/scenario/world-settings.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { DEFAULT_STRATEGY, STRATEGY_NAMES } from '../../../src/core/convergence/strategies.js';
import { RAMP } from '../settings.js';

/** All are at the top of their ramps before what is admitted is judged. */
const CLIMBS = { ...RAMP, fromPerSecond: 10, toPerSecond: null, overMs: 3000, timeToLiveMs: 60_000 };
export const MAX_MIN = `by ${DEFAULT_STRATEGY}`;

/** Kinds of groups that share tokens, each played by swarms of its own. */
export const KINDS: readonly [name: string, group: Partial<GroupSettings>][] = [
  ...STRATEGY_NAMES.map((strategy): [string, Partial<GroupSettings>] => [`by ${strategy}`, { strategy }]),
  ['ramps', { ramp: CLIMBS }],
  ['scheduled ramps', { ramp: { ...CLIMBS, mode: 'scheduled' } }],
  ['minimums of shares', { minShareRatio: 0.15 }],
  ['maximums of shares, and ramps', { minShareRatio: 0.1, maxShareRatio: 0.6, ramp: { ...CLIMBS, mode: 'go-back-n' } }],
];

/** The settings of a swarm whose group shares tokens. */
export function settingsOf(group: Partial<GroupSettings>): WorldSettings {
  const rates = defaultSettings();
  return { ...rates, groups: rates.groups.map((settings) => ({ ...settings, ...group })) };
}
