import { THROTTLE_REASONS, type ThrottleReason } from '../../core/limiter/throttle-tracker.js';
import type { MqttBroker } from './mqtt-broker.js';
import type { MqttCounts, SessionCounts } from './mqtt-counts.js';

/** Answer of `GET /v1/mqtt`; counts since the start. */
export interface MqttStatus {
  readonly url: string;
  readonly connections: number;
  readonly throttledConnections: number;
  /** Connections held now, by reason; one may have several. */
  readonly throttledBy: Readonly<Record<ThrottleReason, number>>;
  /** Milliseconds over all connections, ended ones included. */
  readonly throttledMs: number;
  readonly connects: { readonly accepted: number; readonly refused: number };
  readonly publishes: {
    readonly atOnce: number;
    readonly afterWaiting: number;
    readonly unlimited: number;
    readonly rejected: number;
  };
  readonly dispatched: number;
  readonly dropped: number;
  readonly queued: number;
  readonly pendingPublishes: number;
  readonly pendingBytes: number;
  readonly heldBytes: number;
  readonly disconnects: Readonly<Record<string, number>>;
  /** Sessions that outlive their connection, and retained messages. */
  readonly kept: Readonly<SessionCounts>;
}

export function mqttStatus({ counts, connections, url, clock }: MqttBroker): MqttStatus {
  const nowMs = clock();
  const throttledBy = Object.fromEntries(REASONS.map((reason) => [reason, 0])) as Record<ThrottleReason, number>;
  let throttledConnections = 0;
  let { throttledMs } = counts;
  for (const { throttle } of connections) {
    throttledMs += throttle.throttledMs(nowMs);
    if (!throttle.isThrottled) continue;
    throttledConnections++;
    for (const reason of REASONS) if (throttle.countOf(reason) > 0) throttledBy[reason]++;
  }
  return { url, throttledConnections, throttledBy, throttledMs: Math.round(throttledMs), ...shown(counts) };
}

const REASONS = Object.keys(THROTTLE_REASONS) as ThrottleReason[];

function shown(counts: MqttCounts) {
  return {
    connections: counts.connections,
    connects: { accepted: counts.connectsAccepted, refused: counts.connectsRefused },
    publishes: {
      atOnce: counts.publishesAtOnce,
      afterWaiting: counts.publishesAfterWaiting,
      unlimited: counts.publishesUnlimited,
      rejected: counts.publishesRejected,
    },
    dispatched: counts.sent,
    dropped: counts.dropped,
    queued: counts.queued,
    pendingPublishes: counts.pendingPublishes,
    pendingBytes: counts.pendingBytes,
    heldBytes: counts.heldBytes,
    disconnects: Object.fromEntries(counts.disconnects),
    kept: { ...counts.kept },
  };
}
