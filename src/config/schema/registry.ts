import { section } from '../setting/section.js';

/** Groups that are defined at run time, for the whole cluster (docs/operate/administration.md). */
export const REGISTRY = section({
  enabled: {
    kind: 'switch',
    default: true,
    missedBy: 'groups in YAML alone',
    buys: 'Groups can be made, changed and deleted while the nodes run, at any node for all of them.',
    costs: 'A second topic, which a node reads before it is ready. All nodes must be configured alike.',
  },
  remoteChanges: {
    kind: 'switch',
    default: false,
    missedBy: 'closed networks',
    buys: 'Without `auth:`, groups can be changed by callers of other machines too. With it, roles decide, and this means nothing.',
    costs: 'Whoever reaches the HTTP port of a node without `auth:` can change every quota.',
  },
  maxGroups: {
    kind: 'count',
    default: 100_000,
    min: 1,
    max: 1_000_000,
    missedBy: 'large numbers of tenants',
    buys: 'More groups that come at run time. One more is refused by name.',
    costs: 'About 3 KB each. Names that were deleted count until the node starts anew.',
  },
});
