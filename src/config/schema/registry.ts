import { section } from '../setting/section.js';
import { KAFKA_TOPIC_NAME } from '../setting/setting.js';

/** Groups that are defined at run time, for the whole cluster (docs/operate/administration.md). */
export const REGISTRY = section({
  enabled: {
    kind: 'switch',
    default: true,
    buys: 'Groups can be made, changed and deleted while the nodes run, at any node for all of them.',
    costs: 'A second topic, which a node reads before it is ready. All nodes must be configured alike.',
  },
  name: {
    kind: 'name',
    default: null,
    defaultText: 'topic.name-registry',
    pattern: KAFKA_TOPIC_NAME,
    buys: 'The Kafka topic of the registry: one partition, compacted, created when missing, verified otherwise.',
    costs: 'Nothing; with other kinds of topic it means nothing.',
  },
  remoteChanges: {
    kind: 'switch',
    default: false,
    buys: 'Without `auth:`, groups can be changed by callers of other machines too. With it, roles decide, and this means nothing.',
    costs: 'Whoever reaches the HTTP port of a node without `auth:` can change every quota.',
  },
  maxGroups: {
    kind: 'count',
    default: 100_000,
    min: 1,
    max: 1_000_000,
    buys: 'More groups that come at run time. One more is refused by name.',
    costs: 'About 3 KB each. Names that were deleted count until the node starts anew.',
  },
});
