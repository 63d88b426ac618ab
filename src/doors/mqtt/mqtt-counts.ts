import type { DispatchCounts } from './dispatch-queue.js';

/** What is kept for clients between their connections, and for later subscribers: gauges, but for `…Dropped`. */
export interface SessionCounts {
  /** Subscriptions of clean clients count as well. */
  subscriptions: number;
  sessionMessages: number;
  sessionBytes: number;
  sessionDropped: number;
  retainedMessages: number;
  retainedBytes: number;
  retainedDropped: number;
}

/** What the broker has counted since its start; gauges are marked. Read by metrics and status. */
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
  /** Summed over connections that have ended. */
  throttledMs: number;
  /** Gauge: publishes admitted and not delivered yet. */
  pendingPublishes: number;
  pendingBytes: number;
  /** Gauge: read from clients and not handed on yet. */
  heldBytes: number;
  /** Reason → connections that we have ended, or that were lost. */
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
