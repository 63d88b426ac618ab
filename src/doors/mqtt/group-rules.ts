import type { MqttRule } from '../../config/schema/mqtt-rules.js';
import type { Scope } from '../../core/beside/attachments/attachment.js';
import type { Attachments } from '../../core/beside/attachments/attachments.js';
import { type Captured, fill, matchName, matchTopic } from '../../core/beside/attachments/patterns.js';
import type { Where } from '../../node/api/decision.js';

interface Identity {
  readonly clientId: string;
  readonly username: string;
}

interface GroupLookup {
  readonly defaultGroup: string | null;
  isGroup(name: string): boolean;
  resolve: Attachments['resolve'];
}

/**
 * Maps client id, username or topic → tenant and namespace → group. The first rule that matches in all it names, and
 * whose group exists, decides; else the default group; else nothing limits. A rule without a group means group
 * `tenant/namespace`, or that scope's attachments. A name captured twice must be equal: `username: "{tenant}"` with
 * `topic: "{tenant}/{namespace}/#"` holds for tenants on their own topics alone.
 */
export class GroupRules {
  readonly #rules: readonly MqttRule[];
  readonly #inForce: GroupLookup;

  constructor(rules: readonly MqttRule[], inForce: GroupLookup) {
    this.#rules = rules;
    this.#inForce = inForce;
  }

  whereOf(identity: Identity, topic: string): Where | null {
    for (const rule of this.#rules) {
      const captured = match(rule, identity, topic);
      if (captured === null) continue;
      const where = rule.group === null ? this.#attached(captured) : this.#existing(fill(rule.group, captured));
      if (where !== null) return where;
    }
    return this.#inForce.defaultGroup;
  }

  #existing(group: string | null): string | null {
    return group !== null && this.#inForce.isGroup(group) ? group : null;
  }

  #attached({ tenant, namespace }: Captured): Where | null {
    const own = this.#existing(namespace === undefined ? null : `${tenant}/${namespace}`);
    if (own !== null) return own;
    const scope = { tenant, ...(namespace === undefined ? {} : { namespace }) } as Scope;
    const { groups, exempt } = this.#inForce.resolve(scope);
    const isWhole = groups.every((group) => this.#inForce.isGroup(group));
    return exempt || (groups.length > 0 && isWhole) ? scope : null;
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
  if (!all) return null;
  // Captured names go before these.
  if (clientId !== '') captured.clientId ??= clientId;
  if (username !== '') captured.username ??= username;
  return captured;
}

/**
 * Matches a topic with a filter (MQTT 3.1.1, 4.7): `+` is one segment (MQTT: level), a last `#` the rest and the
 * segment before. Topics with $ match no filter that begins with a wildcard.
 */
export function matchesFilter(filter: string, topic: string): boolean {
  if (topic.startsWith('$') && !filter.startsWith('$')) return false;
  const wanted = filter.split('/');
  const segments = topic.split('/');
  for (let at = 0; at < wanted.length; at++) {
    if (wanted[at] === '#') return true;
    if (at >= segments.length || (wanted[at] !== '+' && wanted[at] !== segments[at])) return false;
  }
  return wanted.length === segments.length;
}
