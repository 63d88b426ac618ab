import { z } from 'zod';
import { THROTTLE_REASONS, type ThrottleReason } from '../../core/limiter/throttle-tracker.js';
import type { MqttBroker } from './mqtt-broker.js';

const REASONS = Object.keys(THROTTLE_REASONS) as ThrottleReason[];

const count = z.int().min(0);
const amount = z.number().min(0);
const counts = z.record(z.string(), count);

/** Answer of `GET /v1/mqtt`; counts since the start. */
export const MQTT_STATUS = z
  .strictObject({
    url: z.string(),
    connections: amount,
    throttledConnections: amount,
    throttledBy: z
      .record(z.enum(REASONS), count)
      .meta({ description: 'The number of connections held now, by reason; one may have several.' }),
    throttledMs: amount.meta({
      description: 'The milliseconds that all connections together were held, ended ones included.',
    }),
    connects: z.strictObject({ accepted: count, refused: count }),
    publishes: z.strictObject({ atOnce: count, afterWaiting: count, unlimited: count, rejected: count }),
    dispatched: amount,
    dropped: amount.meta({
      description: 'The number of messages of QoS 0 that were dropped because the queue of a subscriber was full.',
    }),
    queued: amount.meta({ description: 'The number of messages that wait for their subscriber.' }),
    pendingPublishes: amount,
    pendingBytes: amount,
    heldBytes: amount,
    disconnects: counts.meta({ description: 'The number of connections that were ended, by reason.' }),
    kept: counts.meta({
      description: 'The records kept for sessions that outlive their connection, and as retained messages.',
    }),
  })
  .readonly();
export type MqttStatus = z.infer<typeof MQTT_STATUS>;

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
  return { url, ...counts, throttledConnections, throttledBy, throttledMs: Math.round(throttledMs) };
}
