import { isMapping, type Mapping } from '../../base/input/mapping.js';
import { DIRECTIONS } from '../../core/base/vocabulary.js';
import { type ReadKafkaQuotas, readKafkaQuotas } from '../rules/read-kafka-quotas.js';
import type { GroupSection } from '../schema/groups.js';
import type { Findings } from '../setting/findings.js';
import type { Sound } from '../setting/text-file.js';
import { givenRate } from '../setting/written-rate.js';
import type { KeysRead } from './read-keys.js';
import type { SoundTopic } from './read-topic.js';

export interface ReadBefore {
  readonly topic: SoundTopic | null;
  readonly groups: ReadonlyMap<string, Sound<GroupSection>>;
  readonly keys: KeysRead;
}

/** Reads the Kafka quotas to keep, beside the groups, keys and topic. */
export function kafkaQuotasOf(root: Mapping, { topic, groups, keys }: ReadBefore, findings: Findings): ReadKafkaQuotas {
  const context = {
    topicKind: topic?.kind,
    groups: new Map(Array.from(groups, ([name, settings]) => [name, { hasBytes: hasBytes(settings) }])),
    isKey: (name: string) => keys.templates.some(({ pattern }) => pattern.matches(name)),
  };
  return readKafkaQuotas(isMapping(root.kafkaQuotas) ? root.kafkaQuotas : {}, context, findings);
}

function hasBytes({ quota }: Sound<GroupSection>): boolean {
  return DIRECTIONS.some((direction) => givenRate(quota?.[direction] ?? {}, 'bytes') !== null);
}
