import { hasClusterBucket } from '../../src/core/base/local-gate.js';
import type { GroupSettings, RampModeName } from '../../src/core/base/settings.js';
import { MESSAGES, UNLIMITED } from '../../src/core/base/vocabulary.js';
import { DEFAULT_STRATEGY } from '../../src/core/convergence/strategies.js';
import { RAMP_STEPS } from '../../src/core/target/ramp/ramp.js';
import type { Random } from '../cluster/random.js';
import type { WorldSettings } from '../cluster/world.js';

/** Draws a cluster's settings; half have half of production's times, and forget dead nodes soon. */
export function drawSettings(random: Random, base: WorldSettings): WorldSettings {
  const partitions = Math.floor(random.between(1, 5));
  const pattern = base.groups[0];
  const groups = Array.from({ length: Math.floor(random.between(1, 7)) }, (_, at) => drawGroup(random, pattern, at));
  // With few groups per record, a node that comes back with fewer leaves keys behind.
  const groupsPerRecord = random.next() < 0.5 ? base.groupsPerRecord : Math.floor(random.between(1, 3));
  const timing = random.next() < 0.5 ? {} : fastTiming(base);
  return { ...base, ...timing, partitions, groups, groupsPerRecord };
}

/** One world of so many has ramps. */
const RAMPED_EVERY = 6;
const RAMPED_REST = 5;

/** Gives some worlds ramps, by the seed alone; they end before judged time. */
export function withRamps(seed: number, settings: WorldSettings): WorldSettings {
  if (seed % RAMPED_EVERY !== RAMPED_REST) return settings;
  const turn = Math.floor(seed / RAMPED_EVERY);
  const mode = RAMP_MODES[turn % RAMP_MODES.length];
  const timeToLiveMs = TIMES_TO_LIVE_MS[Math.floor(turn / RAMP_MODES.length) % TIMES_TO_LIVE_MS.length];
  const ramp = { ...CLIMB, mode, timeToLiveMs };
  return { ...settings, groups: settings.groups.map((group) => ({ ...group, ramp: group.ramp ?? ramp })) };
}

/** Seeds in a row with gates, and then with buckets. */
const LIMITED_ALIKE = 24;

/** Gives some worlds cluster buckets, not gates, by the seed alone. */
export function withBuckets(seed: number, settings: WorldSettings): WorldSettings {
  if (Math.floor(seed / LIMITED_ALIKE) % 2 === 0) return settings;
  return { ...settings, groups: settings.groups.map((group) => ({ ...group, topics: 'shared' })) };
}

/** Gives all groups gates without topics' parts: a world has no topics. */
export function withGates(settings: WorldSettings): WorldSettings {
  return { ...settings, groups: settings.groups.map((group) => ({ ...group, topics: 'even' })) };
}

const RAMP_MODES = Object.keys(RAMP_STEPS) as RampModeName[];
/** Milliseconds: shorter than some faults, and longer than all. */
const TIMES_TO_LIVE_MS = [10_000, 60_000];
const CLIMB = {
  fromPerSecond: 10,
  toPerSecond: null,
  overMs: 3000,
  thresholdRatio: 0.5,
  coolDownMs: 5000,
  pausePenaltyRatio: 0.5,
};

/** Halves times; relations stay (src/config/read/check-relations.ts). */
function fastTiming(base: WorldSettings): Partial<WorldSettings> {
  const stalenessMs = base.stalenessMs / 2;
  return {
    heartbeatMs: base.heartbeatMs / 2,
    partitionHeartbeatMs: base.partitionHeartbeatMs / 2,
    stalenessMs,
    isolationAfterMs: base.isolationAfterMs / 2,
    shareValidMs: base.shareValidMs / 2,
    forgetAfterMs: 2 * stalenessMs,
  };
}

function drawGroup(random: Random, pattern: GroupSettings, at: number): GroupSettings {
  const quota = Math.round(random.between(30, 400));
  // Shorter than most faults, or longer.
  const holdMs = random.next() < 0.5 ? pattern.isolation.holdMs : 2000;
  const policy = random.next() < 0.6 ? pattern.isolation.policy : random.next() < 0.5 ? 'floor' : 'closed';
  const name = `group-${at}`;
  const limits = { publish: [quota, UNLIMITED[1]] as const, dispatch: UNLIMITED };
  return { ...pattern, name, ...drawStrategy(random, pattern), isolation: { policy, holdMs }, quota: limits };
}

function drawStrategy(random: Random, pattern: GroupSettings): Partial<GroupSettings> {
  const drawn = random.next();
  if (hasClusterBucket(pattern)) return {};
  if (pattern.strategy !== DEFAULT_STRATEGY || drawn < 0.55) return {};
  if (drawn < 0.7) return { strategy: 'equal' };
  if (drawn < 0.78) return { strategy: 'steal-halfway' };
  if (drawn < 0.86) return { strategy: 'client-rate' };
  if (drawn < 0.92) return { strategy: 'proportional' };
  return { smoothingMs: 500, slewPerSecond: 1 };
}

export function quotaOf({ quota }: GroupSettings): number {
  return quota.publish[MESSAGES];
}
