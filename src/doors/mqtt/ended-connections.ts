import type { Clock } from '../../base/ports/clock.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { MqttCounts } from './mqtt-counts.js';

/** Counts and logs why connections ended. */
export class EndedConnections {
  readonly #counts: MqttCounts;
  readonly #telemetry: Telemetry;
  readonly #clock: Clock;
  /** Last warning of each reason in SAID_SELDOM. */
  readonly #warnedMs = new Map<string, number>();

  constructor(counts: MqttCounts, telemetry: Telemetry, clock: Clock) {
    this.#counts = counts;
    this.#telemetry = telemetry;
    this.#clock = clock;
  }

  count(reason: string): void {
    this.#counts.disconnects.set(reason, (this.#counts.disconnects.get(reason) ?? 0) + 1);
  }

  ended(reason: string, clientId: string): void {
    this.count(reason);
    const bound = BOUND_BY[reason];
    this.#telemetry.log(this.#levelOf(reason), 'mqtt connection ended', { client: clientId, reason, bound });
  }

  #levelOf(reason: string): 'warn' | 'debug' {
    if (!SAID_SELDOM.has(reason)) return WORTH_A_WARNING.has(reason) ? 'warn' : 'debug';
    const nowMs = this.#clock();
    if (nowMs - (this.#warnedMs.get(reason) ?? -Infinity) < WARNED_EVERY_MS) return 'debug';
    this.#warnedMs.set(reason, nowMs);
    return 'warn';
  }
}

/** Reasons that people should look at; others are clients that come and go. */
const WORTH_A_WARNING: ReadonlySet<string> = new Set([
  'dispatch-queue-full',
  'not-reading',
  'gone-while-throttled',
  'session-full',
  'subscriptions-full',
  'token-revoked',
]);

/** Reasons to warn of seldom, as a client that comes back could fill the log. */
const SAID_SELDOM: ReadonlySet<string> = new Set([
  'connect-too-large',
  'held-full',
  'malformed-packet',
  'malformed-text',
  'packet-id-zero',
  'packet-too-large',
  'too-many-filters',
]);
const WARNED_EVERY_MS = 60_000;

/** Bound that each reason exceeded. */
const BOUND_BY: Readonly<Record<string, string>> = {
  'held-full': 'mqtt.maxHeldBytes',
  'packet-too-large': 'mqtt.maxPacketBytes',
  'too-many-filters': 'mqtt.maxFiltersPerPacket',
};
