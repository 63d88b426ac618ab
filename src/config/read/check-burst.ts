import { gatesOf } from '../../core/base/local-gate.js';
import { DIRECTIONS } from '../../core/base/vocabulary.js';
import type { GroupSection } from '../schema/groups.js';
import type { ConfigPath, Findings } from '../setting/findings.js';
import { formatQuantity, SECONDS_OF } from '../setting/quantity.js';
import type { Sound } from '../setting/text-file.js';
import { givenRate, perSecond, shownRate, type WrittenRate } from '../setting/written-rate.js';
import { plannedSettings } from './planned-settings.js';
import type { GroupValues } from './read-groups.js';

/** Checks that a depth belongs to a bucket of the cluster, and that it is one of a burst. */
export function checkBursts(groups: GroupValues, findings: Findings, isAlone = false): void {
  for (const [name, values] of groups) {
    const [gate] = gatesOf(values as Partial<GroupSection>);
    const planned = plannedSettings(values);
    if (isAlone || gate !== undefined) {
      const because = isAlone ? 'topic.kind is none' : `${gate} is ${values[gate as keyof GroupSection]}`;
      const remedy = isAlone
        ? 'Remove it, or share a topic: embedded, kafka or redis.'
        : `Remove it, or remove ${gate}.`;
      checkGate(['groups', name, 'burst'], values.burst, { because, remedy }, findings);
      checkGate(['groups', name, 'shadow', 'burst'], values.shadow.burst, { because, remedy }, findings);
      continue;
    }
    checkDepth(['groups', name, 'burst'], values, findings);
    if (planned !== null) checkDepth(['groups', name, 'shadow', 'burst'], planned, findings);
  }
}

function checkGate(
  at: ConfigPath,
  burst: Readonly<Partial<Record<'messages' | 'bytes' | 'quotaMs', unknown>>>,
  { because, remedy }: { readonly because: string; readonly remedy: string },
  findings: Findings,
): void {
  for (const key of ['messages', 'bytes', 'quotaMs'] as const) {
    if ((burst[key] ?? null) === null) continue;
    findings.add([...at, key], {
      problem: `needs a bucket of the cluster: ${because}, so each node limits its own share`,
      allowed: 'no burst',
      remedy,
    });
  }
}

/**
 * A depth is for bursts: with more than a day of the quota, or less than a message of it, something else was meant. Both
 * directions have the depth, so the smaller quota says what a day is, and the larger one what a message is.
 */
function checkDepth(at: ConfigPath, { burst, quota }: Sound<GroupSection>, findings: Findings): void {
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
function ratesOf(quota: Sound<GroupSection>['quota'], unit: 'messages' | 'bytes'): readonly WrittenRate[] {
  return DIRECTIONS.flatMap((direction) => givenRate(quota[direction], unit) ?? []);
}

function largestOf(rates: readonly WrittenRate[]): WrittenRate | null {
  return rates.reduce<WrittenRate | null>((most, rate) => {
    return most === null || perSecond(rate) > perSecond(most) ? rate : most;
  }, null);
}

function smallestOf(rates: readonly WrittenRate[]): WrittenRate | null {
  return rates.reduce<WrittenRate | null>((least, rate) => {
    return least === null || perSecond(rate) < perSecond(least) ? rate : least;
  }, null);
}
