import type { KafkaQuotaEntity } from '../../config/schema/kafka-quota-entities.js';
import { type Captured, fill, matchName } from '../../core/beside/attachments/patterns.js';
import { DEFAULT_NAME, type Entity, entityKeyOf, limitKeyOf } from '../../core/beside/kafka-quotas/entity.js';
import type { LimitSpec } from '../../core/beside/kafka-quotas/keeper-events.js';
import { type GroupBytes, quotasOf } from './entity-parts.js';

export interface SpecsInput {
  readonly rules: readonly KafkaQuotaEntity[];
  /** Entities that brokers have seen, for rules with patterns. */
  readonly seen: Iterable<Entity>;
  /** Returns a group's quota; null = no such group. */
  readonly quotaOf: (group: string) => GroupBytes | null;
  readonly maxEntities: number;
}

interface Specs {
  readonly limits: readonly LimitSpec[];
  /** Keys (entity and quota) of rules whose group has no such quota. */
  readonly unlimited: ReadonlySet<string>;
  readonly leftOut: number;
  /** Unknown groups that rules name; without those of captures, whose names anybody may make up. */
  readonly groupsMissing: readonly string[];
}

/** Lists the quota of each entity: rules without patterns as they stand, others by their first match. */
export function limitSpecs({ rules, seen, quotaOf, maxEntities }: SpecsInput): Specs {
  const found = new Map<string, { entity: Entity; group: string }>();
  const groupsMissing: string[] = [];
  for (const rule of rules) {
    if (isPattern(rule)) continue;
    if (quotaOf(rule.group) === null) groupsMissing.push(rule.group);
    const entity = { user: rule.user, clientId: rule.clientId };
    found.set(entityKeyOf(entity), { entity, group: rule.group });
  }
  const leftOut = new Set<string>();
  const patterns = rules.filter(isPattern);
  for (const entity of patterns.length === 0 ? [] : seen) {
    const key = entityKeyOf(entity);
    const group = found.has(key) ? null : groupOf(patterns, entity);
    if (group === null || quotaOf(group) === null) continue;
    // Brokers name an entity once for each of its quotas.
    if (found.size >= maxEntities) leftOut.add(key);
    else found.set(key, { entity, group });
  }
  return {
    limits: [...found.values()].flatMap(({ entity, group }) => limitsOf(entity, group, quotaOf)),
    unlimited: new Set([...found.values()].flatMap(({ entity, group }) => unlimitedOf(entity, quotaOf(group)))),
    leftOut: leftOut.size,
    groupsMissing,
  };
}

/** Tests if a pattern takes the entity, and no rule names it. */
export function isOfPattern(rules: readonly KafkaQuotaEntity[], entity: Entity): boolean {
  const key = entityKeyOf(entity);
  if (rules.some((rule) => !isPattern(rule) && entityKeyOf(rule) === key)) return false;
  return groupOf(rules.filter(isPattern), entity) !== null;
}

function limitsOf(entity: Entity, group: string, quotaOf: SpecsInput['quotaOf']): LimitSpec[] {
  return quotasOf(quotaOf(group)).flatMap(([name, bytes]) =>
    bytes < Infinity ? [{ entity, name, quota: bytes, group }] : [],
  );
}

function unlimitedOf(entity: Entity, quota: GroupBytes | null): string[] {
  return quotasOf(quota).flatMap(([name, bytes]) => (bytes === Infinity ? [limitKeyOf(entity, name)] : []));
}

function isPattern({ user, clientId }: KafkaQuotaEntity): boolean {
  return [user, clientId].some((name) => name !== null && name !== DEFAULT_NAME && /[*{]/.test(name));
}

function groupOf(rules: readonly KafkaQuotaEntity[], entity: Entity): string | null {
  for (const rule of rules) {
    const captured: Captured = Object.create(null);
    if (matches(rule.user, entity.user, captured) && matches(rule.clientId, entity.clientId, captured)) {
      return fill(rule.group, captured);
    }
  }
  return null;
}

function matches(pattern: string | null, name: string | null, captured: Captured): boolean {
  if (pattern === null || name === null) return pattern === name;
  return pattern === DEFAULT_NAME ? name === DEFAULT_NAME : matchName(pattern, name, captured);
}
