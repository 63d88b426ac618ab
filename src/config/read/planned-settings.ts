import { DIRECTIONS } from '../../core/base/vocabulary.js';
import { GROUP, type GroupSection } from '../schema/groups.js';
import type { Sound } from '../setting/text-file.js';
import { givenRate, type RatesRead } from '../setting/written-rate.js';

/**
 * The group as its `shadow` plans it: what that names in place of the group's own, and all else as the group has it.
 * null = nothing is planned. What a topic or client may do is no part of the plan: those limits stay in force, and
 * work that they refuse is not asked about.
 */
export function plannedSettings(values: Sound<GroupSection>): Sound<GroupSection> | null {
  const { shadow } = values;
  if (!isPlanned(values)) return null;
  const { strategy, burst } = shadow;
  const isBurstGiven = [burst.messages, burst.bytes, burst.quotaMs].some((depth) => (depth ?? null) !== null);
  return {
    ...values,
    mode: 'enforce',
    shadow: NOTHING.shadow,
    quota: {
      publish: laidOver(values.quota.publish, shadow.quota.publish),
      dispatch: laidOver(values.quota.dispatch, shadow.quota.dispatch),
    } as Sound<GroupSection>['quota'],
    strategy: strategy ?? values.strategy,
    burst: isBurstGiven ? { ...values.burst, ...burst } : values.burst,
    topics: NOTHING.topics,
    perTopic: NOTHING.perTopic,
    perClient: NOTHING.perClient,
  };
}

/** Tells whether the group has a shadow. */
export function isPlanned({ enabled, shadow }: Sound<GroupSection>): boolean {
  const { quota, strategy, burst } = shadow;
  if (enabled === false) return false;
  const isQuotaGiven = DIRECTIONS.some((direction) => {
    return (['messages', 'bytes'] as const).some((name) => givenRate(quota[direction], name) !== null);
  });
  return (
    isQuotaGiven || [strategy, burst.messages, burst.bytes, burst.quotaMs].some((value) => (value ?? null) !== null)
  );
}

function laidOver(quota: RatesRead, { messagesPerSecond, bytesPerSecond }: RatesRead): RatesRead {
  return {
    ...quota,
    messagesPerSecond: messagesPerSecond ?? quota.messagesPerSecond,
    bytesPerSecond: bytesPerSecond ?? quota.bytesPerSecond,
  };
}

const NOTHING: GroupSection = GROUP.parse({});
