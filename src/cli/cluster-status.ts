import { QuotameshError } from '../errors.js';
import type { GroupStatus, NodeStatus, RateStatus } from '../runtime/status.js';

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
export async function fetchClusterStatus(url: URL, names: readonly string[], max = GROUPS_MAX): Promise<ClusterStatus> {
  const node = await get<NodeStatus>(url, '/v1/nodes');
  const known = names.length > 0 ? { names, notShown: 0 } : await groupsToShow(url, max);
  const groups: GroupStatus[] = [];
  for (const name of known.names) groups.push(await get<GroupStatus>(url, `/v1/groups/${encodeURIComponent(name)}`));
  return { node, groups, groupsNotShown: known.notShown };
}

/** `127.0.0.1:7070` is taken for `http://127.0.0.1:7070`. */
export function nodeUrl(text: string): URL {
  const full = /^https?:\/\//.test(text) ? text : `http://${text}`;
  if (!/:\/\/.*:\/\//.test(full) && URL.canParse(full)) return new URL(full);
  throw new QuotameshError('USAGE', { reason: `--url must be the address of a node, got ${JSON.stringify(text)}` });
}

interface GroupList {
  readonly groups: readonly {
    readonly group: string;
    readonly publish: ListedDirection;
    readonly dispatch: ListedDirection;
  }[];
  readonly next: string | null;
}

interface ListedDirection {
  readonly served: boolean;
  readonly demand: RateStatus;
}

/** A kilobyte counts as much as a message: only the order of groups hangs on it. */
function demandOf({ demand }: ListedDirection): number {
  return (demand.messagesPerSecond ?? 0) + (demand.bytesPerSecond ?? 0) / 1024;
}

async function groupsToShow(url: URL, max: number): Promise<{ names: readonly string[]; notShown: number }> {
  const used: { readonly group: string; readonly demand: number }[] = [];
  const unused: string[] = [];
  let after: string | null = null;
  do {
    const page: GroupList = await get<GroupList>(
      url,
      after === null ? '/v1/groups' : `/v1/groups?after=${encodeURIComponent(after)}`,
    );
    for (const { group, publish, dispatch } of page.groups) {
      if (!publish.served && !dispatch.served) unused.push(group);
      else used.push({ group, demand: demandOf(publish) + demandOf(dispatch) });
    }
    after = page.next;
  } while (after !== null);
  used.sort((one, other) => other.demand - one.demand);
  const all = [...used.map(({ group }) => group), ...unused];
  return { names: all.slice(0, max), notShown: Math.max(0, all.length - max) };
}

const TIMEOUT_MS = 5000;

/** A change waits for the log; the node itself gives up after 15 s. */
const CHANGE_TIMEOUT_MS = 20_000;

export interface Change {
  readonly method: 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  /** Revision that the group must have; 'none' = it must not exist. */
  readonly expected?: string | undefined;
  /** Only shows what would follow. */
  readonly dryRun?: boolean | undefined;
  /** What is attached to a group that goes is detached. */
  readonly force?: boolean | undefined;
}

/** Answers null where there is no content; throws CHANGE_REFUSED where the node says no. */
export async function change<Answer>(
  url: URL,
  { method, path: plain, body, expected, dryRun, force }: Change,
): Promise<Answer | null> {
  const query = Object.entries({ dryRun, force }).flatMap(([name, value]) => (value === true ? [`${name}=true`] : []));
  const path = query.length > 0 ? `${plain}?${query.join('&')}` : plain;
  const headers: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  if (expected === 'none') headers['if-none-match'] = '*';
  else if (expected !== undefined) headers['if-match'] = `"${expected}"`;
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(CHANGE_TIMEOUT_MS);
  const response = await fetch(new URL(path, url), { method, headers, signal, ...sent }).catch(
    (error: Error & { cause?: Error }) => unreachable(url, error.cause?.message || error.message),
  );
  if (response.status === 204) return null;
  const answer: unknown = await response.json().catch(() => unreachable(url, `${path} is answered by something else`));
  if (response.ok) return answer as Answer;
  const { code, detail, remedy } = answer as { code?: unknown; detail?: unknown; remedy?: unknown };
  if (code === 'GROUP_UNKNOWN') throw new QuotameshError('USAGE', { reason: String(detail) });
  if (response.status >= 500) return unreachable(url, String(detail));
  throw new QuotameshError('CHANGE_REFUSED', { reason: String(detail), advice: String(remedy) });
}

export async function get<Answer>(url: URL, path: string): Promise<Answer> {
  const response = await fetch(new URL(path, url), { signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(
    (error: Error & { cause?: Error }) => unreachable(url, error.cause?.message || error.message),
  );
  const answer: unknown = await response.json().catch(() => unreachable(url, `${path} is answered by something else`));
  if (response.ok) return answer as Answer;
  const { code, detail } = answer as { code?: unknown; detail?: unknown };
  if (code === 'GROUP_UNKNOWN') throw new QuotameshError('USAGE', { reason: String(detail) });
  return unreachable(url, typeof detail === 'string' ? detail : `${path} answers with status ${response.status}`);
}

function unreachable(url: URL, reason: string): never {
  throw new QuotameshError('NODE_UNREACHABLE', { url: url.origin, reason });
}
