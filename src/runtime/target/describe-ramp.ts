import type { Coordinator } from '../../core/coordinator.js';
import { rampTop } from '../../core/ramp/ramp-of.js';
import type { GroupSettings } from '../../core/settings.js';

/** Where the ramp of a direction stands; messages/s. */
export interface RampStatus {
  readonly mode: string;
  /** waiting: nobody has used the group yet, or not for the time to live; climbing; top. */
  readonly state: 'waiting' | 'climbing' | 'top';
  readonly level: number;
  readonly from: number;
  readonly to: number;
  readonly overMs: number;
}

/** null = the direction has no ramp. */
export function describeRamp(
  { targets }: Pick<Coordinator, 'targets'>,
  settings: GroupSettings,
  direction: number,
  mapLane: number,
): RampStatus | null {
  const to = rampTop(settings, direction);
  if (settings.ramp === null || to === null) return null;
  const { mode, fromPerSecond: from, overMs } = settings.ramp;
  const level = targets.ramps.levelOf(settings, direction, mapLane);
  const known = targets.ramps.get(mapLane, settings.ramp);
  const state = known === undefined ? 'waiting' : level < to ? 'climbing' : 'top';
  return { mode, state, level, from, to, overMs };
}
