import type { MqttStatus } from '../mqtt/mqtt-status.js';
import type { MQTT_METRICS } from './metric-table.js';
import type { Reading } from './metric-tables.js';

export function mqttReadings(now: () => MqttStatus): Readonly<Record<keyof typeof MQTT_METRICS, Reading>> {
  return {
    quotamesh_mqtt_connections: (series) => series(now().connections),
    quotamesh_mqtt_throttled_connections: byLabel('reason', () => now().throttledBy),
    quotamesh_mqtt_throttled_seconds_total: (series) => series(now().throttledMs / 1000),
    quotamesh_mqtt_connects_total: byLabel('outcome', () => now().connects),
    quotamesh_mqtt_publishes_total: (series) => {
      const { atOnce, afterWaiting, unlimited, rejected } = now().publishes;
      series(atOnce, { outcome: 'at-once' });
      series(afterWaiting, { outcome: 'after-waiting' });
      series(unlimited, { outcome: 'unlimited' });
      series(rejected, { outcome: 'rejected' });
    },
    quotamesh_mqtt_dispatched_messages_total: (series) => series(now().dispatched),
    quotamesh_mqtt_dropped_messages_total: (series) => series(now().dropped),
    quotamesh_mqtt_queued_messages: (series) => series(now().queued),
    quotamesh_mqtt_pending_publishes: (series) => series(now().pendingPublishes),
    quotamesh_mqtt_pending_bytes: (series) => series(now().pendingBytes),
    quotamesh_mqtt_held_bytes: (series) => series(now().heldBytes),
    quotamesh_mqtt_kept_subscriptions: (series) => series(now().kept.subscriptions),
    quotamesh_mqtt_kept_messages: (series) => {
      series(now().kept.sessionMessages, { kind: 'session' });
      series(now().kept.retainedMessages, { kind: 'retained' });
    },
    quotamesh_mqtt_kept_bytes: (series) => {
      series(now().kept.sessionBytes, { kind: 'session' });
      series(now().kept.retainedBytes, { kind: 'retained' });
    },
    quotamesh_mqtt_not_kept_total: (series) => {
      series(now().kept.sessionDropped, { kind: 'session' });
      series(now().kept.retainedDropped, { kind: 'retained' });
    },
    quotamesh_mqtt_disconnects_total: byLabel('reason', () => now().disconnects),
  };
}

function byLabel(label: string, values: () => Readonly<Record<string, number>>): Reading {
  return (series) => {
    for (const [name, value] of Object.entries(values())) series(value, { [label]: name });
  };
}
