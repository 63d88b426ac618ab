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
 * A group's strategy with the wrappers that its settings ask for. From the inside out: where the cluster has a bucket,
 * what nodes leave is lent; then the range, because a share outside of it is not to be approached; then smoothing; the
 * slew limit last, so that nothing rises faster.
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
