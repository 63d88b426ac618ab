import type { Clock } from '../../base/ports/clock.js';
import type { DispatchRules } from './dispatch-queue.js';
import type { GatedConnection } from './gated-connection.js';
import type { HeldBytes } from './held-bytes.js';

/** What the broker gives to a connection, and what the connection tells the broker. */
export interface ConnectionRules {
  readonly clock: Clock;
  readonly maxPacketBytes: number;
  /** The most filters of one SUBSCRIBE or UNSUBSCRIBE. */
  readonly maxFiltersPerPacket: number;
  readonly dispatch: DispatchRules;
  /** Milliseconds until this connection may subscribe; 0 = now, and a token is taken. */
  readonly subscribeWaitMs: (connection: GatedConnection) => number;
  readonly held: HeldBytes;
  /** The CONNECT has arrived: from now on aedes has the connection. */
  readonly onConnect: (connection: GatedConnection) => void;
  readonly onReading: (connection: GatedConnection, on: boolean) => void;
  readonly onEnded: (connection: GatedConnection, reason: string | null) => void;
}
