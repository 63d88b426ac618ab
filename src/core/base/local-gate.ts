import type { GroupSettings } from './settings.js';

/**
 * Settings that limit each node's own share. Every node then has a gate, and the cluster has no bucket for the group.
 * `nodeCount` serves nodes without a topic.
 */
export const GATES = ['limiter', 'topics', 'smoothingMs', 'slewPerSecond', 'nodeCount'] as const;
export type GateName = (typeof GATES)[number];

/** Tests if the cluster has one bucket for a group. */
export function hasClusterBucket(group: GateSettings): boolean {
  return gatesOf(group).length === 0;
}

/** Lists the settings that give each node a gate. */
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

/** Gate settings; an absent field has its default. */
export type GateSettings = { readonly [Key in GateName]?: GroupSettings[Key] | null };
