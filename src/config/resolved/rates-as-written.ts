import { type Direction, MESSAGES } from '../../core/base/vocabulary.js';
import type { GroupSection } from '../schema/groups.js';
import type { RatesRead, WrittenRate } from '../setting/written-rate.js';

/** Rates as they were read, in their own units of time; null = there is no limit. */
export type RatesAsWritten = Readonly<Record<Direction, RatesRead>>;

/** The sections of a group that have rates. */
export type GroupAsWritten = Pick<GroupSection, 'quota' | 'perTopic' | 'perClient'>;

/** Returns a group's quota of messages or bytes in its own unit; null = there is none. */
export function quotaAsWritten(group: WithQuota, direction: Direction, dimension: number): WrittenRate | null {
  const { messagesPerSecond, bytesPerSecond } = group.asWritten.quota[direction];
  return dimension === MESSAGES ? messagesPerSecond : bytesPerSecond;
}

interface WithQuota {
  readonly asWritten: Pick<GroupAsWritten, 'quota'>;
}
