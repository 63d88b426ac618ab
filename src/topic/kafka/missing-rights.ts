import type { TopicUnusable } from '../remote/topic-unusable.js';
import type { BrokerLink } from './broker-link.js';
import { METADATA_WITH_ID_VERSION, metadataWithId } from './metadata-10.js';
import { type AclOperation, missingAcls, NEEDED_ACLS, type NeededAcl } from './needed-acls.js';
import { aclMissing, kafkaUnusable, type TopicAccess } from './topic-failure.js';

/** Returns the permanent failure of `error`, naming all missing rights; null = trying again may help. */
export async function refusalOf(
  error: Error,
  link: BrokerLink,
  access: TopicAccess,
  operation: AclOperation,
): Promise<TopicUnusable | null> {
  const refusal = kafkaUnusable(error, access, operation);
  if (refusal?.code !== 'TOPIC_ACL_MISSING') return refusal;
  const others = (await rightsMissing(link, access.topic).catch(() => null)) ?? [];
  const missing = NEEDED_ACLS.filter((acl) => acl.operation === operation || others.includes(acl));
  return aclMissing(missing, access, error);
}

/** Asks for the rights that a node lacks on an existing topic; null = the broker is too old to tell. */
export async function rightsMissing(link: BrokerLink, topic: string): Promise<readonly NeededAcl[] | null> {
  if (!link.serves('Metadata', METADATA_WITH_ID_VERSION)) return null;
  const [found] = (await link.exchange(metadataWithId(topic, { withRights: true }))).topicMetadata;
  const isHidden = found?.topicErrorCode === TOPIC_AUTHORIZATION_FAILED;
  const rights = isHidden ? NONE : (found?.rights ?? null);
  return rights === null ? null : missingAcls(rights);
}

const TOPIC_AUTHORIZATION_FAILED = 29;
const NONE = 0;
