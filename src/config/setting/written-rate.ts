import type { Direction } from '../../core/base/vocabulary.js';
import { parseRate, SECONDS_OF, SHORT_UNIT, type TimeUnit } from './quantity.js';

/**
 * A rate as it was written. What enforces it takes it per second; people find their unit again, with the amount that
 * they gave, which cannot be computed back: x / 60 · 60 need not be x.
 */
export interface WrittenRate {
  readonly amount: number;
  readonly per: TimeUnit;
}

/** 300 per hour and 5 per minute are the same number: one division rounds once. */
export function perSecond({ amount, per }: WrittenRate): number {
  return amount / SECONDS_OF[per];
}

/** Writes it as YAML has it below its key: `5`, `5/min`. */
export function spelledRate({ amount, per }: WrittenRate): number | string {
  return per === 'second' ? amount : `${amount}/${SHORT_UNIT[per]}`;
}

export function shownRate(rate: WrittenRate): string {
  return String(spelledRate(rate));
}

/** Shows a rate in its unit of time, and in `per`: `2 (120/min)`. */
export function shownBeside(rate: WrittenRate, per: TimeUnit): string {
  const shown = shownRate(rate);
  if (rate.per === per) return shown;
  // Twelve digits: what the conversion rounds is not shown.
  const amount = Number((perSecond(rate) * SECONDS_OF[per]).toPrecision(12));
  return `${shown} (${amount}/${SHORT_UNIT[per]})`;
}

export const RATE_NAMES = ['messages', 'bytes', 'cost', 'reservedCost'] as const;
export type RateName = (typeof RATE_NAMES)[number];

export const LIMIT_NAMES = ['messages', 'bytes', 'cost'] as const satisfies readonly RateName[];

/** A plain number behind it is per second; a text may name another unit of time. */
export type RateKey<Name extends RateName = RateName> = `${Name}PerSecond`;

export function rateKey<Name extends RateName>(name: Name): RateKey<Name> {
  return `${name}PerSecond`;
}

export type RatesRead = Readonly<Partial<Record<RateKey, WrittenRate | null | undefined>>>;

/** null where there is none, or a mistake. */
export function givenRate(read: RatesRead, name: RateName): WrittenRate | null {
  return read[rateKey(name)] ?? null;
}

export function hasRate(read: Readonly<Record<Direction, RatesRead>>, names: readonly RateName[]): boolean {
  return Object.values(read).some((rates) => names.some((name) => givenRate(rates, name) !== null));
}

/** Rates as an answer has them, or YAML: 5, or `5/min`. */
export type RatesSpelled = Readonly<Partial<Record<RateKey, number | string>>>;

export function spelledIn(rates: RatesSpelled | undefined, name: RateName): WrittenRate | null {
  const spelled = rates?.[rateKey(name)];
  return spelled === undefined ? null : parseRate('rate', spelled);
}

export function unitIn(rates: RatesSpelled | undefined, name: RateName): TimeUnit {
  return spelledIn(rates, name)?.per ?? 'second';
}
