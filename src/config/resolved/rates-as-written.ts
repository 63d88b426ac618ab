import { DIMENSIONS, type Direction, type Rates } from '../../core/base/vocabulary.js';
import type { RateName, WrittenRate } from '../setting/written-rate.js';

/** Sections with rates, of a group; `limits` is the node's own. */
export const RATE_SECTIONS = ['quota', 'perTopic', 'perClient', 'limits'] as const;
export type RateSection = (typeof RATE_SECTIONS)[number];

/** `quota.publish.messages`. */
export type RatePath = `${RateSection}.${Direction}.${RateName}`;

/** The rates that are not written per second; all others are as their numbers say. */
export type RatesAsWritten = Readonly<Partial<Record<RatePath, WrittenRate>>>;

/** One for all: most groups have nothing else. */
export const ALL_PER_SECOND: RatesAsWritten = Object.freeze({});

/** The rate in its own unit; null = there is no limit. */
export function asWritten(rates: RatesAsWritten, path: RatePath, perSecond: number): WrittenRate | null {
  if (perSecond === Infinity) return null;
  return rates[path] ?? { amount: perSecond, per: 'second' };
}

/** A group's quota of messages or bytes, likewise. */
export function quotaAsWritten(group: WithQuota, direction: Direction, dimension: number): WrittenRate | null {
  return asWritten(group.asWritten, QUOTA_PATHS[direction][dimension], group.quota[direction][dimension]);
}

/** Made once: a path that is put together anew is hashed for every look-up (0.4 µs of a store's hit). */
const QUOTA_PATHS: Readonly<Record<Direction, readonly RatePath[]>> = {
  publish: DIMENSIONS.map((dimension) => `quota.publish.${dimension}` as const),
  dispatch: DIMENSIONS.map((dimension) => `quota.dispatch.${dimension}` as const),
};

interface WithQuota {
  readonly asWritten: RatesAsWritten;
  readonly quota: Readonly<Record<Direction, Rates>>;
}
