/** State kept between connections and for later subscribers: gauges, but for `…Dropped`. */
export type SessionCounts = MqttCounts['kept'];
export type MqttCounts = ReturnType<typeof createMqttCounts>;

/** Makes counts since the broker's start, in the shape of its status; gauges are marked. */
export function createMqttCounts() {
  return {
    /** Gauge. */
    connections: 0,
    throttledMs: 0,
    connects: { accepted: 0, refused: 0 },
    publishes: { atOnce: 0, afterWaiting: 0, unlimited: 0, rejected: 0 },
    dispatched: 0,
    dropped: 0,
    /** Gauge. */
    queued: 0,
    /** Gauge. */
    pendingPublishes: 0,
    /** Gauge. */
    pendingBytes: 0,
    /** Gauge: bytes read of clients and not handed on. */
    heldBytes: 0,
    /** Connections that we ended, or that were lost, by reason. */
    disconnects: {} as Record<string, number>,
    kept: {
      /** Places of subscriptions (room-taken.ts), with those of clean clients. */
      subscriptions: 0,
      sessionMessages: 0,
      sessionBytes: 0,
      sessionDropped: 0,
      retainedMessages: 0,
      retainedBytes: 0,
      retainedDropped: 0,
    },
  };
}
