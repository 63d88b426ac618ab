import type { GroupSettings } from '../../core/base/settings.js';
import type { Coordinator } from '../../core/machine/coordinator.js';
import { rampTop } from '../../core/target/ramp/ramp-of.js';
import type { RampStatus } from '../api/node-status.js';

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
  const ceiling = targets.rampsOf(mapLane).ceilingOf(settings, direction, mapLane);
  const known = targets.rampsOf(mapLane).get(mapLane, settings.ramp);
  const state = known === undefined ? 'waiting' : ceiling < to ? 'climbing' : 'top';
  return { mode, state, ceiling, from, to, overMs };
}
