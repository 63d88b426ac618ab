import type { GroupConfig } from '../config/resolved/resolved-config.js';
import type { KafkaQuotaEntity } from '../config/schema/kafka-quota-entities.js';
import { type Captured, fill, matchName } from '../core/attachments/patterns.js';
import {
  DEFAULT_NAME,
  type Entity,
  entityKeyOf,
  limitKeyOf,
  MARKER_NAME,
  QUOTA_NAMES,
  type QuotaName,
} from '../core/kafka-quotas/entity.js';
import type { LimitSpec, Marker } from '../core/kafka-quotas/keeper-events.js';

const BYTES = 1;

export function bytesOf({ quota }: Pick<GroupConfig, 'quota'>): GroupBytes {
  return { publish: quota.publish[BYTES], dispatch: quota.dispatch[BYTES] };
}

/** Bytes per second of the whole cluster; Infinity = no quota. */
export interface GroupBytes {
  readonly publish: number;
  readonly dispatch: number;
}

export interface SpecsInput {
  readonly rules: readonly KafkaQuotaEntity[];
  /** What the brokers have seen, for rules with patterns. */
  readonly seen: Iterable<Entity>;
  /** Null = there is no such group. */
  readonly quotaOf: (group: string) => GroupBytes | null;
  readonly maxEntities: number;
}

export interface Specs {
  readonly limits: readonly LimitSpec[];
  /** Keys of limits that the rules name, and that are none because the group has no such quota. */
  readonly unlimited: ReadonlySet<string>;
  /** Entities beyond the bound. */
  readonly leftOut: number;
  /** Groups that rules name and that there are not; not those of captures, which anybody may make up. */
  readonly groupsMissing: readonly string[];
}

/** Which entity has which quota: rules without patterns as they stand, others for whom they match, the first alone. */
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
    // Each broker names it, and for each of its quotas.
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

/** Whether a rule with a pattern takes the entity, and none by its name. */
export function isOfPattern(rules: readonly KafkaQuotaEntity[], entity: Entity): boolean {
  const key = entityKeyOf(entity);
  if (rules.some((rule) => !isPattern(rule) && entityKeyOf(rule) === key)) return false;
  return groupOf(rules.filter(isPattern), entity) !== null;
}

/**
 * One quota that nobody has, of each name that the rules keep. Brokers tell of users while all quotas of that name are
 * of users, of pairs while all are of pairs, and else of client ids, and of whoever has a quota of its own.
 */
export function markersOf(rules: readonly KafkaQuotaEntity[], quotaOf: SpecsInput['quotaOf']): Marker[] {
  return QUOTA_NAMES.flatMap((name) => {
    const keeping = rules.filter(({ group }) => mayKeep(group, name, quotaOf));
    if (keeping.length === 0) return [];
    const hasClients = keeping.some(({ user }) => user === null);
    const hasUsers = keeping.some(({ clientId }) => clientId === null);
    const entity = {
      user: hasClients ? null : MARKER_NAME,
      clientId: hasUsers && !hasClients ? null : MARKER_NAME,
    };
    return [{ entity, name }];
  });
}

/** What a group made of captures has is known where a template makes it: it has what any other one has. */
function mayKeep(group: string, name: QuotaName, quotaOf: SpecsInput['quotaOf']): boolean {
  const sample = group.replaceAll(/\{\w+\}/g, 'x');
  if (quotaOf(sample) === null) return sample !== group;
  return limitsOf(NOBODY, sample, quotaOf).some((limit) => limit.name === name);
}

function limitsOf(entity: Entity, group: string, quotaOf: SpecsInput['quotaOf']): LimitSpec[] {
  return quotasOf(quotaOf(group)).flatMap(([name, bytes]) =>
    bytes < Number.POSITIVE_INFINITY ? [{ entity, name, quota: bytes, group }] : [],
  );
}

function unlimitedOf(entity: Entity, quota: GroupBytes | null): string[] {
  return quotasOf(quota).flatMap(([name, bytes]) =>
    bytes === Number.POSITIVE_INFINITY ? [limitKeyOf(entity, name)] : [],
  );
}

/** None of a group that there is not. */
function quotasOf(quota: GroupBytes | null): readonly (readonly [QuotaName, number])[] {
  if (quota === null) return [];
  return [
    ['producer_byte_rate', quota.publish],
    ['consumer_byte_rate', quota.dispatch],
  ];
}

const NOBODY: Entity = { user: null, clientId: MARKER_NAME };

function isPattern({ user, clientId }: KafkaQuotaEntity): boolean {
  return [user, clientId].some((name) => name !== null && name !== DEFAULT_NAME && /[*{]/.test(name));
}

/** The group of the first rule that matches. */
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
