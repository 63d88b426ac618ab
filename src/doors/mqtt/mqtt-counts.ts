import type { DispatchCounts } from './dispatch-queue.js';

/** State kept between connections and for later subscribers: gauges, but for `…Dropped`. */
export interface SessionCounts {
  /** Places of subscriptions (room-taken.ts), with those of clean clients. */
  subscriptions: number;
  sessionMessages: number;
  sessionBytes: number;
  sessionDropped: number;
  retainedMessages: number;
  retainedBytes: number;
  retainedDropped: number;
}

/** Counts since the broker's start, for metrics and status; gauges are marked. */
export interface MqttCounts extends DispatchCounts {
  readonly kept: SessionCounts;
  connections: number;
  connectsAccepted: number;
  connectsRefused: number;
  /** Publishes that went on at once, after waiting, without a group, and not at all. */
  publishesAtOnce: number;
  publishesAfterWaiting: number;
  publishesUnlimited: number;
  publishesRejected: number;
  throttledMs: number;
  pendingPublishes: number;
  pendingBytes: number;
  /** Gauge: bytes read of clients and not handed on. */
  heldBytes: number;
  /** Connections that we ended, or that were lost, by reason. */
  readonly disconnects: Map<string, number>;
}

export function createMqttCounts(): MqttCounts {
  return {
    connections: 0,
    connectsAccepted: 0,
    connectsRefused: 0,
    publishesAtOnce: 0,
    publishesAfterWaiting: 0,
    publishesUnlimited: 0,
    publishesRejected: 0,
    throttledMs: 0,
    pendingPublishes: 0,
    pendingBytes: 0,
    heldBytes: 0,
    sent: 0,
    dropped: 0,
    queued: 0,
    disconnects: new Map(),
    kept: {
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
