import type { Clock } from '../../base/ports/clock.js';
import type { DispatchRules } from './dispatch-queue.js';
import type { GatedConnection } from './gated-connection.js';
import type { HeldBytes } from './held-bytes.js';

/** Calls between the broker and a connection. */
export interface ConnectionRules {
  readonly clock: Clock;
  readonly maxPacketBytes: number;
  /** Most filters of one SUBSCRIBE or UNSUBSCRIBE. */
  readonly maxFiltersPerPacket: number;
  readonly dispatch: DispatchRules;
  /** Takes a token: returns milliseconds until the connection may subscribe, 0 = taken. */
  readonly subscribeWaitMs: (connection: GatedConnection) => number;
  readonly held: HeldBytes;
  /** Called when the CONNECT has arrived and aedes has the connection. */
  readonly onConnect: (connection: GatedConnection) => void;
  readonly onReading: (connection: GatedConnection, on: boolean) => void;
  readonly onEnded: (connection: GatedConnection, reason: string | null) => void;
}
