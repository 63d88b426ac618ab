import { DIRECTIONS } from '../../core/base/vocabulary.js';
import type { GroupSettings } from '../schema/groups.js';
import type { Sound } from '../schema/read-section.js';
import type { ConfigPath, Findings } from '../setting/findings.js';
import { formatQuantity } from '../setting/quantity.js';
import { valueBelow } from '../setting/setting-value.js';
import { largestOf, slowQuotaBeside, smallestOf } from '../setting/short-burst.js';
import { SECONDS_OF } from '../setting/time-unit.js';
import { givenRate, perSecond, shownRate, type WrittenRate } from '../setting/written-rate.js';
import { plannedSettings } from './planned-settings.js';
import type { GroupValues } from './read-groups.js';
import { ALONE, sharingInForce, withoutTokens } from './sharing-in-force.js';

/** What a group that shares tokens cannot have yet, and what only such a group has. */
export function checkSharing(groups: GroupValues, root: unknown, findings: Findings, isAlone = false): void {
  for (const [name, values] of groups) {
    // What stands below `defaults` is for other groups, too.
    if ((valueBelow(root, ['groups', name, 'burstMs']) ?? null) !== null) checkBurstMs(name, values, findings);
    const { sharing, autoSharing } = isAlone ? ALONE : sharingInForce(values);
    if (isAlone && values.sharing === 'tokens') {
      findings.add(['groups', name, 'sharing'], {
        problem: 'must be rates with topic kind none: nobody tells what was taken',
        allowed: 'sharing: rates',
        remedy: 'Remove it, or share a topic: embedded, kafka or redis.',
      });
    }
    const planned = plannedSettings(values);
    if (sharing === 'rates') {
      const because = autoSharing?.because ?? 'sharing is rates';
      checkRates(['groups', name, 'burst'], values.burst, because, findings);
      checkRates(['groups', name, 'shadow', 'burst'], values.shadow.burst, because, findings);
      continue;
    }
    checkDepth(['groups', name, 'burst'], values, findings);
    if (planned !== null) checkDepth(['groups', name, 'shadow', 'burst'], planned, findings);
    for (const [key, value] of withoutTokens(values)) {
      findings.add(['groups', name, ...key.split('.')], {
        problem: `cannot be ${value} where sharing is tokens`,
        allowed: 'sharing: rates',
        remedy: `Share rates in this group, or remove ${key}.`,
      });
    }
  }
}

function checkRates(
  at: ConfigPath,
  burst: Readonly<Partial<Record<'messages' | 'bytes' | 'quotaMs', unknown>>>,
  because: string,
  findings: Findings,
): void {
  for (const key of ['messages', 'bytes', 'quotaMs'] as const) {
    if ((burst[key] ?? null) === null) continue;
    findings.add([...at, key], {
      problem: `needs a bucket of the cluster: ${because}, so every node has a bucket of its own`,
      allowed: 'sharing: tokens',
      remedy: 'Set sharing: tokens, or use burstMs, the depth of each node’s bucket.',
    });
  }
}

/** 5/min with half a second of burst: somebody has thought of two units of time. */
function checkBurstMs(name: string, values: Sound<GroupSettings>, findings: Findings): void {
  const { quota, burstMs, sharing } = values;
  if (typeof burstMs !== 'number') return;
  const inMessages = slowQuotaBeside(burstMs, ratesOf(quota, 'messages'));
  const slow = inMessages ?? slowQuotaBeside(burstMs, ratesOf(quota, 'cost'));
  if (slow === null) return;
  const one = inMessages === null ? 'unit of cost' : 'message';
  const instead = sharing === 'tokens' ? 'Say the depth in messages (burst: 5)' : 'Remove burstMs';
  findings.add(['groups', name, 'burstMs'], {
    problem: `is ${formatQuantity('duration', burstMs)} of ${shownRate(slow)}, which is less than one ${one}`,
    allowed: `time enough for one ${one} of the quota`,
    remedy: `${instead}, or tell the quota per second.`,
    cause: 'below-range',
  });
}

/**
 * A depth is for bursts: with more than a day of the quota, or less than a message of it, something else was meant. Both
 * directions have the depth, so the smaller quota says what a day is, and the larger one what a message is.
 */
function checkDepth(at: ConfigPath, { burst, quota }: Sound<GroupSettings>, findings: Findings): void {
  for (const unit of ['messages', 'bytes'] as const) {
    const rates = ratesOf(quota, unit).filter(({ amount }) => amount > 0);
    const largest = largestOf(rates);
    const smallest = smallestOf(rates);
    if (largest === null || smallest === null) continue;
    const depth = burst[unit] ?? null;
    const most = perSecond(smallest) * SECONDS_OF.day;
    if (depth !== null && depth > most) {
      findings.add([...at, unit], {
        problem: `is ${depth} ${unit}, which take more than a day to come in at ${shownRate(smallest)}`,
        allowed: `at most a day of the quota, ${Math.max(1, Math.floor(most))}`,
        remedy: 'Lower it, or raise the quota.',
        cause: 'above-range',
      });
    }
    const ofQuota = ((burst.quotaMs ?? 0) / 1000) * perSecond(largest);
    if (unit === 'messages' && depth === null && ofQuota > 0 && ofQuota < 1) {
      findings.add([...at, 'quotaMs'], {
        problem: `is ${formatQuantity('duration', burst.quotaMs!)} of ${shownRate(largest)}, which is less than one message`,
        allowed: 'time enough for one message of the quota',
        remedy: `Say it in messages: burst: ${Math.max(1, Math.floor(largest.amount))}.`,
        cause: 'below-range',
      });
    }
  }
}

/** One for each direction that has a limit. */
function ratesOf(quota: Sound<GroupSettings>['quota'], unit: 'messages' | 'bytes' | 'cost'): readonly WrittenRate[] {
  return DIRECTIONS.flatMap((direction) => givenRate(quota[direction], unit) ?? []);
}
