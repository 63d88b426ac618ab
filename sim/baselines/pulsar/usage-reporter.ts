import {
  MAX_SUPPRESS_ROUNDS,
  type SuppressionRule,
  type SuppressionSettings,
  TOLERANCE_PERCENT,
} from './report-suppression.js';

export interface UsageCount {
  readonly messages: number;
  readonly bytes: number;
}

/** Holds counts since the last attempt, and the last report. */
export class UsageReporter {
  readonly #rule: SuppressionRule;
  readonly #settings: SuppressionSettings;
  sinceLast: UsageCount = NOTHING;
  lastReported: UsageCount = NOTHING;
  #lastSentMs = -Infinity;

  constructor(rule: SuppressionRule, settings: SuppressionSettings) {
    this.#rule = rule;
    this.#settings = settings;
  }

  add({ messages, bytes }: UsageCount): void {
    this.sinceLast = { messages: this.sinceLast.messages + messages, bytes: this.sinceLast.bytes + bytes };
  }

  /** Returns the numbers to send; null = suppressed. Counting begins anew either way. */
  report(nowMs: number): UsageCount | null {
    const usage = this.sinceLast;
    this.sinceLast = NOTHING;
    const isSent = this.#rule({
      bytes: { current: usage.bytes, lastReported: this.lastReported.bytes },
      messages: { current: usage.messages, lastReported: this.lastReported.messages },
      msSinceLastReport: nowMs - this.#lastSentMs,
      ...this.#settings,
    });
    if (!isSent) return null;
    this.lastReported = usage;
    this.#lastSentMs = nowMs;
    return usage;
  }
}

const NOTHING: UsageCount = { messages: 0, bytes: 0 };

export function settingsForPeriod(periodSec: number): SuppressionSettings {
  return { periodSec, maxSuppressRounds: MAX_SUPPRESS_ROUNDS, tolerancePercent: TOLERANCE_PERCENT };
}
