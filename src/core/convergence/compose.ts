import { invariant } from '../base/invariant.js';
import { hasClusterBucket } from '../base/local-gate.js';
import type { GroupSettings } from '../base/settings.js';
import { clamped } from './clamp.js';
import { lending } from './lending.js';
import { slewed } from './slew.js';
import { smoothed } from './smoothing.js';
import { STRATEGIES } from './strategies.js';
import type { Strategy } from './strategy.js';

/**
 * Composes a group's strategy from its wrappers, from the inside out. First lending, where the cluster has a bucket.
 * Then the range, because no share may approach a value outside of it. Then smoothing, and the slew limit last, so that
 * nothing rises faster.
 */
export function strategyOf(group: GroupSettings): Strategy {
  const plain = STRATEGIES[group.strategy];
  invariant(plain !== undefined, 'configuration must have checked the strategy', { name: group.strategy });
  let strategy = plain;
  const isLent = hasClusterBucket(group);
  const hasRest = !plain.agreesOnPool && !plain.meetsAll;
  if (isLent && hasRest) strategy = lending(strategy);
  const { minShareRatio, maxShareRatio } = group;
  const range = { minShareRatio, maxShareRatio, isLent };
  if (minShareRatio > 0 || maxShareRatio < 1) strategy = clamped(strategy, range);
  if (group.smoothingMs > 0) strategy = smoothed(strategy, group.smoothingMs);
  if (group.slewPerSecond !== Infinity) strategy = slewed(strategy, group.slewPerSecond);
  return strategy;
}
