import type { BudgetPer, BudgetPeriod } from '../../core/strict/budget-account.js';

/** Milliseconds by which local midnights may differ from those of UTC. */
const APART_MS = 36 * 3_600_000;
const DAY_MS = 86_400_000;

/** A day of a calendar: milliseconds of its midnight in UTC. */
type LocalDay = number;

/**
 * Tells the periods of a budget by the calendar of a zone. What the zone's clocks do is asked of the runtime alone: a
 * period begins with the first instant of its first day there.
 *
 * *Worked:* the day of 29 March 2026 in Berlin begins at 23:00 UTC of the 28th, and lasts 23 hours.
 */
export class BudgetCalendar {
  readonly #per: BudgetPer;
  readonly #format: Intl.DateTimeFormat;
  #known: BudgetPeriod | null = null;

  constructor(per: BudgetPer, timezone: string) {
    this.#per = per;
    const digits = { year: 'numeric', month: 'numeric', day: 'numeric' } as const;
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone: timezone, calendar: 'gregory', ...digits });
  }

  /** Milliseconds of the longest period; null = it never ends. */
  get lengthMs(): number | null {
    return LONGEST_DAYS[this.#per] === null ? null : (LONGEST_DAYS[this.#per] as number) * DAY_MS;
  }

  /** Returns the period of an instant. */
  periodAt(wallMs: number): BudgetPeriod {
    if (this.#per === 'total') return TOTAL;
    const known = this.#known;
    if (known !== null && wallMs >= known.fromMs && wallMs < (known.untilMs as number)) return known;
    const first = this.#firstDay(this.#localDay(wallMs), 0);
    const [fromMs, nextMs] = [this.#beginOf(first), this.#beginOf(this.#firstDay(first, 1))];
    // Clocks that go back over midnight have a day twice.
    if (wallMs < fromMs) this.#known = { fromMs: this.#beginOf(this.#firstDay(first, -1)), untilMs: fromMs };
    else if (wallMs >= nextMs) this.#known = { fromMs: nextMs, untilMs: this.#beginOf(this.#firstDay(first, 2)) };
    else this.#known = { fromMs, untilMs: nextMs };
    return this.#known;
  }

  /** Returns the first day of a day's period, or some periods later. */
  #firstDay(day: LocalDay, later: number): LocalDay {
    const date = new Date(day);
    const [year, month, dayOfMonth] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
    if (this.#per === 'year') return Date.UTC(year + later, 0, 1);
    if (this.#per === 'month') return Date.UTC(year, month + later, 1);
    const sinceMonday = this.#per === 'week' ? (date.getUTCDay() + 6) % 7 : 0;
    return Date.UTC(year, month, dayOfMonth - sinceMonday + later * (this.#per === 'week' ? 7 : 1));
  }

  /** Finds the first instant of a day; of a skipped one, the next day's. */
  #beginOf(day: LocalDay): number {
    let [before, after] = [day - APART_MS, day + APART_MS];
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2);
      if (this.#localDay(middle) >= day) after = middle;
      else before = middle;
    }
    return after;
  }

  #localDay(wallMs: number): LocalDay {
    const parts = Object.fromEntries(this.#format.formatToParts(wallMs).map(({ type, value }) => [type, value]));
    return Math.floor(Date.UTC(Number(parts.year), Number(parts.month) - 1, Number(parts.day)) / DAY_MS) * DAY_MS;
  }
}

const LONGEST_DAYS: Readonly<Record<BudgetPer, number | null>> = {
  day: 1,
  week: 7,
  month: 31,
  year: 366,
  total: null,
};

const TOTAL: BudgetPeriod = { fromMs: 0, untilMs: null };
