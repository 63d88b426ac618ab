import type { GroupStatus, NodeStatus, RateStatus } from '../api/node-status.js';
import type { NodeAddress } from './node-address.js';
import { allPages, get } from './node-requests.js';

/** A cluster as one of its nodes sees it. */
export interface ClusterStatus {
  readonly node: NodeStatus;
  readonly groups: readonly GroupStatus[];
  /** Configured, but left out: see GROUPS_MAX. */
  readonly groupsNotShown: number;
}

/** Each group is a request of its own and fills a part of the screen; `--group` picks others. */
export const GROUPS_MAX = 20;

/** Asks a node over its public HTTP API. `names` empty = the groups used at that node first, then others, 20 at most. */
export async function fetchClusterStatus(
  asked: NodeAddress,
  names: readonly string[],
  max = GROUPS_MAX,
): Promise<ClusterStatus> {
  const node = await get<NodeStatus>(asked, '/v1/nodes');
  const known = names.length > 0 ? { names, notShown: 0 } : await groupsToShow(asked, max);
  const groups: GroupStatus[] = [];
  for (const name of known.names) groups.push(await get<GroupStatus>(asked, `/v1/groups/${encodeURIComponent(name)}`));
  return { node, groups, groupsNotShown: known.notShown };
}

interface ListedGroup {
  readonly group: string;
  readonly publish: ListedDirection;
  readonly dispatch: ListedDirection;
}

interface ListedDirection {
  readonly served: boolean;
  readonly demand: RateStatus;
}

/** A kilobyte counts as much as a message: only the order of groups hangs on it. */
function demandOf({ demand }: ListedDirection): number {
  return (demand.messagesPerSecond ?? 0) + (demand.bytesPerSecond ?? 0) / 1024;
}

async function groupsToShow(asked: NodeAddress, max: number): Promise<{ names: readonly string[]; notShown: number }> {
  const used: { readonly group: string; readonly demand: number }[] = [];
  const unused: string[] = [];
  for (const { group, publish, dispatch } of await allPages<ListedGroup>(asked, 'groups')) {
    if (!publish.served && !dispatch.served) unused.push(group);
    else used.push({ group, demand: demandOf(publish) + demandOf(dispatch) });
  }
  used.sort((one, other) => other.demand - one.demand);
  const all = [...used.map(({ group }) => group), ...unused];
  return { names: all.slice(0, max), notShown: Math.max(0, all.length - max) };
}
