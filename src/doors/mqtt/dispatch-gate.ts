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
export function dispatchGate(parts: DispatchGateParts): Pick<DispatchRules, 'tryAdmit' | 'admit'> {
  const { passages, rules, telemetry } = parts;
  return {
    tryAdmit: (connection, head) => {
      const passage = passageOf(rules, connection, head);
      if (passage === null) return true;
      try {
        return passages.try(connection, passage).passes;
      } catch {
        // `admit` tries again, and reports it.
        return false;
      }
    },
    admit: async (connection, head, isCounted) => {
      const passage = passageOf(rules, connection, head);
      if (passage === null) return true;
      try {
        await passages.wait(connection, passage, isCounted);
        return true;
      } catch (error) {
        const { message: reason } = error as Error;
        const facts = { client: connection.clientId, topic: head.topic.slice(0, 200), reason };
        if (!connection.destroyed) telemetry.log('warn', 'mqtt dispatch rejected', facts);
        return false;
      }
    },
  };
}

/** Returns a message's passage; aedes's own ($SYS) belong to nobody. */
function passageOf(
  rules: GroupRules,
  connection: GatedConnection,
  { topic, payloadBytes }: PublishHead,
): Passage | null {
  const where = topic.startsWith('$') ? null : rules.whereOf(connection, topic);
  return where === null ? null : { where, direction: 'dispatch', topic, bytes: payloadBytes };
}
