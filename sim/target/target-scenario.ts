import type { WorldSettings } from '../cluster/world.js';

/** Backends that saturate and clients that load them: complete and checked, made by read-target-scenario.ts. */
export interface TargetScenario {
  readonly name: string;
  readonly says: string;
  /** What the nodes are configured with, but for groups. */
  readonly settings: WorldSettings;
  readonly groups: readonly GroupQuota[];
  readonly backends: readonly MockBackend[];
  readonly clients: readonly MockClient[];
  readonly phases: readonly Phase[];
}

/** Quota of the whole cluster, per second; Infinity = none. */
export interface GroupQuota {
  readonly name: string;
  readonly messages: number;
  readonly cost: number;
  readonly reservedCost: number;
}

/** A backend whose queue stands at its target when it gets as much work as it can do. */
export interface MockBackend {
  readonly name: string;
  readonly zone: string;
  /** Cost units per second. */
  readonly capacity: number;
  readonly target: number;
  readonly spring: number;
  /** Time constant with which the queue follows the work. */
  readonly followsMs: number;
}

/** One client, a node of its own, with one piece of work at a time. */
export interface MockClient {
  readonly group: string;
  readonly wantedPerSecond: number;
  /** Cost of one piece of work, on all its backends together. */
  readonly units: number;
  /** Names of backends, each with the same part of the work. */
  readonly backends: readonly string[];
}

export interface Phase {
  /** null = until what is expected has held. */
  readonly forSec: number | null;
  readonly settleWithinSec: number;
  /** What changes when it begins. */
  readonly groups: readonly GroupQuota[];
  readonly backends: readonly { readonly name: string; readonly capacity: number }[];
  readonly expect: readonly TargetExpectation[];
}

export const EXPECTED = ['target', 'targetSum', 'perClient', 'busyGroups'] as const;

export interface TargetExpectation {
  readonly what: (typeof EXPECTED)[number];
  readonly group: string | null;
  /** Infinity = unlimited. */
  readonly value: number;
  readonly tolerance: number;
}
