import { GROUP, type GroupSection } from '../schema/groups.js';
import type { Sound } from '../setting/text-file.js';
import { hasRate, type RatesRead } from '../setting/written-rate.js';

/**
 * The group as its `shadow` plans it: what that names in place of the group's own, and all else as the group has it.
 * null = nothing is planned. What a topic or client may do is no part of the plan: those limits stay in force, and
 * work that they refuse is not asked about.
 */
export function plannedSettings(values: Sound<GroupSection>): Sound<GroupSection> | null {
  if (!isPlanned(values)) return null;
  const { quota, strategy, burst } = values.shadow;
  return {
    ...values,
    mode: 'enforce',
    shadow: NOTHING.shadow,
    quota: {
      publish: laidOver(values.quota.publish, quota.publish),
      dispatch: laidOver(values.quota.dispatch, quota.dispatch),
    } as Sound<GroupSection>['quota'],
    strategy: strategy ?? values.strategy,
    burst: hasDepth(burst) ? { ...values.burst, ...burst } : values.burst,
    topics: NOTHING.topics,
    perTopic: NOTHING.perTopic,
    perClient: NOTHING.perClient,
  };
}

export function isPlanned({ enabled, shadow: { quota, strategy, burst } }: Sound<GroupSection>): boolean {
  if (enabled === false) return false;
  return hasRate(quota, ['messages', 'bytes']) || (strategy ?? null) !== null || hasDepth(burst);
}

function hasDepth({ messages, bytes, quotaMs }: Sound<GroupSection>['shadow']['burst']): boolean {
  return (messages ?? bytes ?? quotaMs ?? null) !== null;
}

function laidOver(quota: RatesRead, { messagesPerSecond, bytesPerSecond }: RatesRead): RatesRead {
  return {
    ...quota,
    messagesPerSecond: messagesPerSecond ?? quota.messagesPerSecond,
    bytesPerSecond: bytesPerSecond ?? quota.bytesPerSecond,
  };
}

const NOTHING: GroupSection = GROUP.parse({});
