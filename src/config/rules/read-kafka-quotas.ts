import { isMapping } from '../../base/input/mapping.js';
import type { GroupSection } from '../schema/groups.js';
import {
  ENTITY_MATCHERS,
  EXPORTER_URL,
  KAFKA_QUOTA_ENTITY,
  type KafkaQuotaEntity,
} from '../schema/kafka-quota-entities.js';
import { capturesIn } from '../schema/rule-patterns.js';
import type { ConfigPath, Findings } from '../setting/findings.js';
import { mustBe, noSuchGroup, show } from '../setting/setting-text.js';
import type { Sound } from '../setting/text-file.js';
import { hasRate } from '../setting/written-rate.js';
import { readEntry } from './read-entry.js';

interface KafkaQuotasContext {
  readonly topicKind: string | undefined;
  readonly groups: ReadonlyMap<string, Sound<GroupSection>>;
  /** Tests if a template of `keys` makes this name of a group. */
  readonly isKey: (group: string) => boolean;
}

const TEXTS = { docs: 'docs/guide/kafka-quotas.md' };
const AT: ConfigPath = ['kafkaQuotas'];

/** Reads the lists of `kafkaQuotas`; adds every mistake with its line. */
export function readKafkaQuotas(written: unknown, context: KafkaQuotasContext, findings: Findings) {
  const given = isMapping(written) ? written : {};
  const exporters = listOf(given.exporters, [...AT, 'exporters'], 'addresses', findings).flatMap((one, index) => {
    return readEntry(EXPORTER_URL, one, [...AT, 'exporters', index], findings, TEXTS) ?? [];
  });
  checkTwice(exporters, findings);
  const entities = listOf(given.entities, [...AT, 'entities'], 'users and client ids', findings).flatMap(
    (one, index) => {
      const at = [...AT, 'entities', index];
      const entity = readEntry(KAFKA_QUOTA_ENTITY, one, at, findings, TEXTS);
      if (entity === undefined) return [];
      checkDefault(entity, at, findings);
      checkGroup(entity, at, context, findings);
      return [entity];
    },
  );
  checkReached(entities, findings);
  if (entities.length > 0 && context.topicKind !== undefined && context.topicKind !== 'kafka') {
    const problem = `needs a topic of kind kafka: the Kafka of the topic is the one whose quotas are kept, got ${context.topicKind}`;
    const remedy = 'Name that Kafka as the topic, or remove kafkaQuotas.';
    findings.add(AT, { problem, allowed: 'topic.kind kafka', remedy });
  }
  const isMistaken = findings.mistakes.some(({ path }) => path.startsWith('kafkaQuotas.exporters'));
  if (entities.length > 0 && exporters.length === 0 && !isMistaken) {
    const allowed = 'one address per broker';
    const remedy = 'Add the pages of the JMX exporters, e.g. ["http://kafka-1:7071/metrics"].';
    findings.add([...AT, 'exporters'], { problem: 'is required with entities', allowed, remedy });
  }
  return { exporters, entities };
}

function listOf(written: unknown, at: ConfigPath, what: string, findings: Findings): readonly unknown[] {
  if (written === undefined || written === null) return [];
  if (Array.isArray(written)) return written;
  findings.add(at, mustBe(`a list of ${what}`, written, 'Begin each entry with a dash.'));
  return [];
}

/** A broker that is read twice would count twice. */
function checkTwice(exporters: readonly string[], findings: Findings): void {
  for (const [index, url] of exporters.entries()) {
    if (exporters.indexOf(url) === index) continue;
    const problem = `is given twice: ${show(url)}`;
    findings.add([...AT, 'exporters', index], { problem, allowed: 'each broker once', remedy: 'Remove one of them.' });
  }
}

function checkDefault(entity: KafkaQuotaEntity, at: ConfigPath, findings: Findings): void {
  for (const key of ENTITY_MATCHERS) {
    const name = entity[key];
    if (name === null || !name.includes('<default>') || name === '<default>') continue;
    const problem = `must be "<default>" alone, got ${show(name)}`;
    findings.add([...at, key], { problem, allowed: '"<default>"', remedy: 'Write "<default>", or another name.' });
  }
}

/** The first of two rules for the same entity decides. */
function checkReached(entities: readonly KafkaQuotaEntity[], findings: Findings): void {
  const textOf = ({ user, clientId }: KafkaQuotaEntity) => JSON.stringify([user, clientId]);
  for (const [index, entity] of entities.entries()) {
    const first = entities.findIndex((other) => textOf(other) === textOf(entity));
    if (first === index) continue;
    const problem = `is never reached: entity ${first} is the same`;
    findings.add([...AT, 'entities', index], { problem, allowed: 'each entity once', remedy: 'Remove one of them.' });
  }
}

/** Checks that a group without captures exists, with a quota in bytes. Kafka counts nothing else. */
function checkGroup(
  { group }: KafkaQuotaEntity,
  at: ConfigPath,
  context: KafkaQuotasContext,
  findings: Findings,
): void {
  if (capturesIn(group).length > 0 || context.isKey(group)) return;
  const known = context.groups.get(group);
  if (known === undefined) {
    findings.add([...at, 'group'], noSuchGroup(group, context.groups.keys(), 'Add the group below groups:.'));
  } else if (!hasRate(known.quota, ['bytes'])) {
    findings.add([...at, 'group'], {
      problem: `names ${group}, which has no quota in bytes`,
      allowed: 'a group with quota.publish.bytesPerSecond, quota.dispatch.bytesPerSecond, or both',
      remedy: 'Add quota.publish.bytesPerSecond for producers, quota.dispatch.bytesPerSecond for consumers.',
    });
  }
}
