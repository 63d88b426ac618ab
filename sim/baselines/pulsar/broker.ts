import { type BaselineEnvironment, type Quota, rateOf } from '../baseline.js';
import type { Member } from '../baseline-cluster.js';
import type { MessageBus } from '../message-bus.js';
import type { SimulatedProcess } from '../simulated-process.js';
import { PublishLimiter } from './publish-limiter.js';
import type { QuotaCalculator } from './quota-calculator.js';
import type { SuppressionRule } from './report-suppression.js';
import { settingsForPeriod, type UsageCount, UsageReporter } from './usage-reporter.js';

export interface UsageMessage {
  readonly publishedMs: number;
  /** Null = the numbers are suppressed: the name alone is sent. */
  readonly usage: UsageCount | null;
}

export interface BrokerRules {
  readonly calculate: QuotaCalculator;
  readonly suppress: SuppressionRule;
  readonly periodSec: number;
  /** Milliseconds until a report is forgotten; Infinity in the releases. */
  readonly forgetReportMs: number;
}

/**
 * Bytes of the broker's URL (24); per group a name (20) and 4 suppressed, or 28 with numbers. LZ4 and Pulsar's header
 * about cancel out.
 */
const URL_BYTES = 24;
const NAME_BYTES = 20;
const SUPPRESSED_BYTES = URL_BYTES + NAME_BYTES + 4;
const REPORTED_BYTES = URL_BYTES + NAME_BYTES + 28;

/** Runs a Pulsar broker with one group: three tasks of one period, in any phase. */
export class Broker implements Member<UsageMessage> {
  readonly #process: SimulatedProcess;
  readonly #bus: MessageBus<UsageMessage>;
  readonly #rules: BrokerRules;
  readonly #limiter = new PublishLimiter();
  readonly #reporter: UsageReporter;
  /** Last report per broker, its own echo included; releases forget none. */
  readonly #reports = new Map<string, UsageCount & { readonly writtenMs: number }>();
  #counted = { messages: 0, bytes: 0 };
  #quota: Quota;

  constructor(
    process: SimulatedProcess,
    quota: Quota,
    bus: MessageBus<UsageMessage>,
    rules: BrokerRules,
    { random }: BaselineEnvironment,
  ) {
    this.#process = process;
    this.#bus = bus;
    this.#rules = rules;
    this.#quota = quota;
    this.#reporter = new UsageReporter(rules.suppress, settingsForPeriod(rules.periodSec));
    this.setQuota(quota);
    const periodMs = rules.periodSec * 1000;
    // First runs come within the first period, in Pulsar's favour.
    for (const task of [() => this.#aggregate(), () => this.#report(), () => this.#calculate()]) {
      process.every(periodMs, random.between(0, periodMs), task);
    }
  }

  setQuota(quota: Quota): void {
    this.#quota = quota;
    this.#limiter.replace([this.#configured(0), this.#configured(1)], this.#process.nowMs);
  }

  tryAcquire(messages: number, bytes: number): boolean {
    if (!this.#limiter.tryAcquire(messages, bytes, this.#process.nowMs)) return false;
    this.#counted.messages += messages;
    // Messages always have bytes, those of their header.
    this.#counted.bytes += Math.max(bytes, messages);
    return true;
  }

  limitOf(dimension: 0 | 1): number {
    return this.#limiter.rate(dimension);
  }

  /** Takes a report that is no older than two periods. Reports of zero stay. */
  receive({ publishedMs, usage }: UsageMessage, from: string): void {
    const nowMs = this.#process.nowMs;
    if (usage === null || nowMs - publishedMs > 2000 * this.#rules.periodSec) return;
    this.#reports.set(from, { ...usage, writtenMs: nowMs });
  }

  leave(): void {}

  #aggregate(): void {
    if (this.#counted.messages <= 0 || this.#counted.bytes <= 0) return;
    this.#reporter.add(this.#counted);
    this.#counted = { messages: 0, bytes: 0 };
  }

  #report(): void {
    const nowMs = this.#process.nowMs;
    const usage = this.#reporter.report(nowMs);
    const bytes = usage === null ? SUPPRESSED_BYTES : REPORTED_BYTES;
    this.#bus.publish(this.#process.node, { publishedMs: nowMs, usage }, bytes);
  }

  #calculate(): void {
    this.#forget();
    const quotas = [this.#calculateUnit(0), this.#calculateUnit(1)] as const;
    this.#limiter.replace(quotas, this.#process.nowMs);
  }

  #calculateUnit(dimension: 0 | 1): number {
    const unit = dimension === 0 ? 'messages' : 'bytes';
    let total = 0;
    for (const report of this.#reports.values()) total += report[unit];
    const quota = this.#rules.calculate({
      configured: this.#configured(dimension),
      own: this.#reports.get(this.#process.node)?.[unit] ?? 0,
      total,
      periodSec: this.#rules.periodSec,
      threshold: 0,
    });
    if (quota === 'error') throw new Error(`a broker counted a negative number of ${unit}`);
    return quota;
  }

  #configured(dimension: 0 | 1): number {
    const rate = rateOf(this.#quota, dimension);
    return rate === Infinity ? -1 : Math.trunc(rate);
  }

  #forget(): void {
    const nowMs = this.#process.nowMs;
    for (const [broker, { writtenMs }] of this.#reports) {
      if (nowMs - writtenMs > this.#rules.forgetReportMs) this.#reports.delete(broker);
    }
  }
}
