import { depthGiven, type GroupSettings } from '../base/settings.js';
import { MESSAGES } from '../base/vocabulary.js';
import { CHANCE_DEVIATIONS } from '../report/constants/constants.js';
import { LEAST_DEPTH_PIECES } from './constants.js';

/**
 * Computes a lane's cluster depth where none is configured, in units:
 *
 *     min(max(100 ms of the target, 3 standard deviations of a second's arrivals, 10 pieces), max(1 s, 10 pieces))
 *
 * Worked: 1,000/s of messages → 100. 100/s → 30. 10/s → 10. 5/s → 10.
 *
 * @param piece units of a piece of work; 1 for messages
 */
export function clusterDepth(perSecond: number, piece: number): number {
  const wanted = Math.max(
    0.1 * perSecond,
    CHANCE_DEVIATIONS * Math.sqrt(perSecond * piece),
    LEAST_DEPTH_PIECES * piece,
  );
  return Math.min(wanted, Math.max(perSecond, LEAST_DEPTH_PIECES * piece));
}

/**
 * Reduces the burst while a ramp holds the target below its top: to the same part of the configured one, but at least
 * the pieces that every bucket has. Otherwise a bucket that is deep for the quota would give a cold backend seconds of
 * the ramp's beginning at once. Bytes do not ramp.
 *
 * Worked: burst 500, top 1,000/s: at 100/s 50, at 1/s 10, at the top 500. Burst 5: always 5.
 *
 * @param top messages/s; null = there is no ramp
 */
export function burstOnRamp(rule: DepthRule, perSecond: number, top: number | null): DepthRule {
  const { burst, direction } = rule;
  const given = depthGiven(burst, direction, MESSAGES);
  if (top === null || given === null || perSecond >= top) return rule;
  const messages = Math.max(Math.min(given, LEAST_DEPTH_PIECES), (given * perSecond) / top);
  return { ...rule, burst: { ...burst, messages } };
}

/** Inputs of a bucket's depth beside its target; and the debt of unrefusable work. */
export interface DepthRule extends Pick<GroupSettings, 'burst' | 'debtMs'> {
  readonly direction: number;
}
