import { type StoreSystem, storeSystems } from '../baselines/store/store-systems.js';
import { SYSTEMS, type System, shortName } from '../systems.js';

/** What a trace is played on: all that scenarios are, and stores that are asked for each request. */
export type ReplayedSystem = System | StoreSystem;

export function replayedSystems(roundTripMs: number): readonly ReplayedSystem[] {
  return [...SYSTEMS, ...storeSystems(roundTripMs)];
}

export function replayedSystemNamed(name: string, systems: readonly ReplayedSystem[]): ReplayedSystem | undefined {
  return systems.find((system) => shortName(system.name) === shortName(name));
}
