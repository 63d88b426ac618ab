import type { WorldSettings } from '../cluster/world.js';

/** Backends that saturate, and their clients: complete and checked (read-target-scenario.ts). */
export interface TargetScenario {
  readonly name: string;
  readonly says: string;
  readonly settings: WorldSettings;
  readonly groups: readonly GroupQuota[];
  readonly backends: readonly MockBackend[];
  readonly clients: readonly MockClient[];
  readonly phases: readonly Phase[];
}

/** Quota of the cluster per second; Infinity = none. */
export interface GroupQuota {
  readonly name: string;
  readonly messages: number;
  readonly cost: number;
  readonly reservedCost: number;
}

/** Backend whose queue stands at its target at full work. */
export interface MockBackend {
  readonly name: string;
  readonly zone: string;
  readonly capacity: number;
  readonly target: number;
  readonly spring: number;
  /** Time constant of the queue. */
  readonly followsMs: number;
}

export interface MockClient {
  readonly group: string;
  readonly wantedPerSecond: number;
  readonly units: number;
  /** Backends, each with the same part of the work. */
  readonly backends: readonly string[];
}

export interface Phase {
  /** Null = until expectations have held. */
  readonly forSec: number | null;
  readonly settleWithinSec: number;
  readonly groups: readonly GroupQuota[];
  readonly backends: readonly { readonly name: string; readonly capacity: number }[];
  readonly expect: readonly TargetExpectation[];
}

export const EXPECTED = ['target', 'targetSum', 'perClient', 'busyGroups'] as const;

export interface TargetExpectation {
  readonly what: (typeof EXPECTED)[number];
  readonly group: string | null;
  readonly value: number;
  readonly tolerance: number;
}
