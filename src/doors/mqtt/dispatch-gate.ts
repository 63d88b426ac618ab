import type { Telemetry } from '../../base/ports/telemetry.js';
import type { DispatchRules } from './dispatch-queue.js';
import type { Passage, Passages } from './gate-requests.js';
import type { GatedConnection } from './gated-connection.js';
import type { GroupRules } from './group-rules.js';
import type { PublishHead } from './packets.js';

interface DispatchGateParts {
  readonly passages: Passages;
  readonly rules: GroupRules;
  readonly telemetry: Telemetry;
}

/** Charges messages to the dispatch quota of their subscriber. */
export class DispatchGate implements Pick<DispatchRules, 'tryAdmit' | 'admit'> {
  readonly #parts: DispatchGateParts;

  constructor(parts: DispatchGateParts) {
    this.#parts = parts;
  }

  readonly tryAdmit = (connection: GatedConnection, head: PublishHead): boolean => {
    const passage = this.#passageOf(connection, head);
    if (passage === null) return true;
    try {
      return this.#parts.passages.try(connection, passage).passes;
    } catch {
      // `admit` tries again, and reports it.
      return false;
    }
  };

  readonly admit = async (connection: GatedConnection, head: PublishHead, isCounted: boolean): Promise<boolean> => {
    const passage = this.#passageOf(connection, head);
    if (passage === null) return true;
    try {
      await this.#parts.passages.wait(connection, passage, isCounted);
      return true;
    } catch (error) {
      const facts = { client: connection.clientId, topic: head.topic.slice(0, 200), reason: (error as Error).message };
      if (!connection.destroyed) this.#parts.telemetry.log('warn', 'mqtt dispatch rejected', facts);
      return false;
    }
  };

  /** Returns a message's passage; aedes's own ($SYS) belong to nobody. */
  #passageOf(connection: GatedConnection, { topic, payloadBytes }: PublishHead): Passage | null {
    const where = topic.startsWith('$') ? null : this.#parts.rules.whereOf(connection, topic);
    return where === null ? null : { where, direction: 'dispatch', topic, bytes: payloadBytes };
  }
}
