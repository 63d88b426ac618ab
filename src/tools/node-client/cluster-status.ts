import { segmentOf } from '../../config/setting/path-segment.js';
import type { GroupSummary } from '../../node/api/change-answers.js';
import type { GroupStatus, KeyStatus, NodeStatus } from '../../node/api/node-status.js';
import type { SampleOf } from './answer-sample.js';
import type { NodeAddress } from './node-address.js';
import { allPages, get } from './node-requests.js';

/** Cluster as one node sees it. */
export interface ClusterStatus {
  readonly node: NodeStatus;
  readonly groups: readonly GroupStatus[];
  readonly groupsNotShown: number;
  /** Busiest keys by the log; none where groups are named. */
  readonly keys: readonly KeyStatus[];
}

/** Groups, each a request and a part of the screen; `--groups` and `--group` show others. */
const GROUPS_MAX = 20;
/** Requests at once; a node answers in some hundred µs. */
const ASKED_AT_ONCE = 8;

export const NODE_SAMPLE: SampleOf<NodeStatus> = {
  cluster: '',
  nodeId: '',
  ready: true,
  notReadyBecause: [''],
  degraded: [''],
  members: [{ nodeId: '', state: 'alive', silentMs: 0 }],
  topic: { kind: '' },
  keys: [{ template: '' }],
  configuration: { hidden: [''] },
  busyGroups: [{ group: '' }],
};
const SHARES = { usage: {}, demand: {}, share: {} };
const DIRECTION = {
  quotaAsWritten: {},
  target: {},
  shareSum: {},
  local: {},
  nodes: [{ nodeId: '', ...SHARES }],
} as const;
const GROUP: SampleOf<GroupStatus> = { group: '', directions: { publish: DIRECTION, dispatch: DIRECTION } };
const LISTED_DIRECTION = { served: true, quota: {}, demand: {} };
const LISTED = { group: '', publish: LISTED_DIRECTION, dispatch: LISTED_DIRECTION };

/** Fetches over HTTP; no `names` = the busiest groups, then others. @param max groups; Infinity = all */
export async function fetchClusterStatus(
  asked: NodeAddress,
  names: readonly string[],
  max = GROUPS_MAX,
): Promise<ClusterStatus> {
  const node = await get<NodeStatus>(asked, '/v1/nodes', NODE_SAMPLE);
  const known = names.length > 0 ? { names, notShown: 0 } : await groupsToShow(asked, max);
  const groups: GroupStatus[] = [];
  let next = 0;
  const askOn = async () => {
    while (next < known.names.length) {
      const at = next++;
      groups[at] = await get<GroupStatus>(asked, `/v1/groups/${segmentOf(known.names[at])}`, GROUP);
    }
  };
  await Promise.all(Array.from({ length: ASKED_AT_ONCE }, askOn));
  const hasKeys = names.length === 0 && node.keys.length > 0;
  const { keys } = hasKeys
    ? await get<Pick<ClusterStatus, 'keys'>>(asked, '/v1/keys', { keys: [{ key: '' }] })
    : { keys: [] };
  return { node, groups, groupsNotShown: known.notShown, keys };
}

/** Returns a group's heat: the largest wanted part of a quota; tiny without limits. */
function heatOf({ publish, dispatch }: GroupSummary): number {
  const parts = [publish, dispatch].flatMap(({ quota, demand }) => [
    partOf(demand.messagesPerSecond, quota.messagesPerSecond),
    partOf(demand.bytesPerSecond, quota.bytesPerSecond),
  ]);
  return Math.max(...parts);
}

function partOf(demand: number | null, quota: number | null): number {
  if (demand === null || demand === 0) return 0;
  // Work with a quota of 0 is all refused.
  return quota === null ? Number.MIN_VALUE : quota === 0 ? Number.MAX_VALUE : demand / quota;
}

async function groupsToShow(asked: NodeAddress, max: number): Promise<{ names: readonly string[]; notShown: number }> {
  const used: { readonly group: string; readonly heat: number }[] = [];
  const unused: string[] = [];
  for (const listed of await allPages<GroupSummary>(asked, 'groups', LISTED)) {
    if (!listed.publish.served && !listed.dispatch.served) unused.push(listed.group);
    else used.push({ group: listed.group, heat: heatOf(listed) });
  }
  // Equals keep the node's order.
  used.sort((one, other) => other.heat - one.heat);
  const all = [...used.map(({ group }) => group), ...unused];
  return { names: all.slice(0, max), notShown: Math.max(0, all.length - max) };
}
