import type { MqttRule } from '../config/mqtt-rules.js';
import { type Captured, fill, matchName, matchTopic } from '../core/attachments/patterns.js';

/** Who sends or receives. */
export interface Identity {
  readonly clientId: string;
  readonly username: string;
}

/** What a rule has found out. */
export interface Place {
  readonly tenant: string | undefined;
  readonly namespace: string | undefined;
  /** A configured group. */
  readonly group: string;
}

/**
 * Client identity, username or topic → tenant and namespace → group. The first rule that matches in all it names, and
 * whose group is configured, decides; where none does, the default group, and without one nothing limits the message.
 *
 * A name that two patterns of a rule capture must be the same in both: with `username: "{tenant}"` and
 * `topic: "{tenant}/{namespace}/#"` the rule holds only for tenants on their own topics.
 */
export class GroupRules {
  readonly #rules: readonly MqttRule[];
  readonly #groups: ReadonlySet<string>;
  readonly #defaultGroup: string | null;

  constructor(rules: readonly MqttRule[], groups: readonly string[], defaultGroup: string | null) {
    this.#rules = rules;
    this.#groups = new Set(groups);
    this.#defaultGroup = defaultGroup;
  }

  placeOf(identity: Identity, topic: string): Place | null {
    for (const rule of this.#rules) {
      const captured = match(rule, identity, topic);
      if (captured === null) continue;
      const group = fill(rule.group, captured);
      if (group !== null && this.#groups.has(group)) {
        return { tenant: captured.tenant, namespace: captured.namespace, group };
      }
    }
    const group = this.#defaultGroup;
    return group === null ? null : { tenant: undefined, namespace: undefined, group };
  }
}

function match(rule: MqttRule, { clientId, username }: Identity, topic: string): Captured | null {
  const captured: Captured = Object.create(null);
  if (rule.tenant !== null) captured.tenant = rule.tenant;
  if (rule.namespace !== null) captured.namespace = rule.namespace;
  const all =
    (rule.clientId === null || matchName(rule.clientId, clientId, captured)) &&
    (rule.username === null || matchName(rule.username, username, captured)) &&
    (rule.topic === null || matchTopic(rule.topic, topic, captured));
  return all ? captured : null;
}
