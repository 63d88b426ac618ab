import type { Clock } from '../ports/clock.js';
import type { DispatchRules } from './dispatch-queue.js';
import type { GatedConnection } from './gated-connection.js';

/** What a connection is told by its broker, and tells it. */
export interface ConnectionRules {
  readonly clock: Clock;
  readonly maxPacketBytes: number;
  /** In one SUBSCRIBE or UNSUBSCRIBE. */
  readonly maxFiltersPerPacket: number;
  readonly dispatch: DispatchRules;
  /** Milliseconds until this connection may subscribe; 0 = now, and one is taken. */
  readonly subscribeWaitMs: (connection: GatedConnection) => number;
  /** Bytes that arrived (+) or went on (−). */
  readonly onHeldBytes: (change: number) => void;
  readonly onReading: (connection: GatedConnection, on: boolean) => void;
  readonly onEnded: (connection: GatedConnection, reason: string | null) => void;
}
