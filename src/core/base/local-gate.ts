import type { GroupSettings } from './settings.js';

/**
 * Settings that limit each node's own share. A gate stands at every node then, and the cluster has no bucket for the
 * group. `nodeCount` is there where no topic tells who took what.
 */
export const GATES = ['limiter', 'topics', 'smoothingMs', 'slewPerSecond', 'nodeCount'] as const;
export type GateName = (typeof GATES)[number];

/** Tells whether the cluster has one bucket for a group. */
export function hasClusterBucket(group: GateSettings): boolean {
  return gatesOf(group).length === 0;
}

/** The settings for which each node of a group has a gate on its own share. */
export function gatesOf({ limiter, topics, smoothingMs, slewPerSecond, nodeCount }: GateSettings): GateName[] {
  const isGate: Readonly<Record<GateName, boolean>> = {
    limiter: limiter === 'window',
    topics: (topics ?? 'shared') !== 'shared',
    smoothingMs: (smoothingMs ?? 0) > 0,
    slewPerSecond: (slewPerSecond ?? Infinity) !== Infinity,
    nodeCount: (nodeCount ?? 0) > 0,
  };
  return GATES.filter((gate) => isGate[gate]);
}

/** A field that is absent has its default. */
export type GateSettings = { readonly [Key in GateName]?: GroupSettings[Key] | null };
