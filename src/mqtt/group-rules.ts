import type { MqttRule } from '../config/mqtt-rules.js';

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

type Captured = Record<string, string>;

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

/** `sensor-{tenant}-*`: `*` is anything, `{name}` at least one character other than /. */
function matchName(pattern: string, name: string, captured: Captured): boolean {
  if (name === '' || name.length > NAME_LENGTH_MAX) return false;
  const groups = expressionOf(pattern).exec(name);
  if (groups === null) return false;
  return Object.entries(groups.groups ?? {}).every(([key, value]) => keep(captured, key, value));
}

function matchTopic(pattern: string, topic: string, captured: Captured): boolean {
  const wanted = pattern.split('/');
  const levels = topic.split('/', wanted.length + 1);
  for (let at = 0; at < wanted.length; at++) {
    const level = wanted[at] as string;
    if (level === '#') return true;
    const given = levels[at];
    if (given === undefined) return false;
    const name = CAPTURE.exec(level)?.[1];
    if (name === undefined ? level !== '+' && level !== given : given === '' || !keep(captured, name, given))
      return false;
  }
  return levels.length === wanted.length;
}

function keep(captured: Captured, key: string, value: string): boolean {
  if (captured[key] !== undefined) return captured[key] === value;
  captured[key] = value;
  return true;
}

function fill(template: string, captured: Captured): string | null {
  let complete = true;
  const group = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = captured[name];
    if (value === undefined) complete = false;
    return value ?? '';
  });
  return complete ? group : null;
}

const expressions = new Map<string, RegExp>();

function expressionOf(pattern: string): RegExp {
  const known = expressions.get(pattern);
  if (known !== undefined) return known;
  const source = pattern
    .replaceAll(/[.+?^$()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  const expression = new RegExp(`^${source}$`, 's');
  expressions.set(pattern, expression);
  return expression;
}

const CAPTURE = /^\{(\w+)\}$/;
/** Longer ones match no pattern, so that trying cannot take long. */
const NAME_LENGTH_MAX = 256;
