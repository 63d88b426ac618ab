import type {
  ClusterBucketStatus,
  DirectionStatus,
  GroupStatus,
  RateStatus,
  StrictStatus,
} from '../../../node/api/node-status.js';
import type { TopSort } from './top-command.js';

/** One dimension of one direction of a group, over all nodes; units/s. */
export interface TopRow {
  readonly group: string;
  readonly direction: 'publish' | 'dispatch';
  readonly dimension: 'messages' | 'bytes';
  /** Null = a strict group: its log says what is wanted and held, not what is used. */
  readonly usage: number | null;
  readonly demand: number;
  /** Null = unlimited. */
  readonly target: number | null;
  /** Demand above usage; of a strict group above the quota. */
  readonly throttled: number;
  /** Tokens and depth of the cluster's bucket; a debt is negative. Null = nodes have gates. */
  readonly tokens: number | null;
  readonly depth: number | null;
  /** Set point, and the correction towards it in units/s. */
  readonly setPoint: number | null;
  readonly correctionPerSecond: number | null;
  /** Node with the largest charge beyond expectation; null = none. */
  readonly mostCharged: ClusterBucketStatus['charged'][number] | null;
  readonly worstNode: string | null;
}

/** Lists what is used, wanted or limited, largest first; equals by name. */
export function topRows(groups: readonly GroupStatus[], sort: TopSort): TopRow[] {
  const rows = groups.flatMap(({ group, directions }) =>
    (['publish', 'dispatch'] as const).flatMap((direction) => rowsOf(group, direction, directions[direction])),
  );
  const named = (one: TopRow, other: TopRow) => (one.group < other.group ? -1 : Number(one.group > other.group));
  return rows.sort(
    (one, other) => (sort === 'group' ? 0 : sizeOf(other, sort) - sizeOf(one, sort)) || named(one, other),
  );
}

function sizeOf(row: TopRow, sort: Exclude<TopSort, 'group'>): number {
  return row[sort] ?? row.demand;
}

function rowsOf(group: string, direction: TopRow['direction'], status: DirectionStatus): TopRow[] {
  if (status.strict != null) return strictRows(group, direction, status.strict);
  const messages = rowOf(status, 'messagesPerSecond', { group, direction, dimension: 'messages' });
  const bytes = rowOf(status, 'bytesPerSecond', { group, direction, dimension: 'bytes' });
  const isUsed = messages.demand > 0 || bytes.demand > 0;
  if (!isUsed) return [];
  // A dimension without a quota throttles nobody.
  return bytes.target === null ? [messages] : messages.target === null ? [bytes] : [messages, bytes];
}

function rowOf(
  { nodes, target, clusterBucket }: DirectionStatus,
  key: keyof RateStatus,
  what: Pick<TopRow, 'group' | 'direction' | 'dimension'>,
): TopRow {
  let [usage, demand, throttled, most] = [0, 0, 0, 0];
  let worstNode: string | null = null;
  for (const node of nodes) {
    const [used, wanted] = [node.usage[key] ?? 0, node.demand[key] ?? 0];
    // Usage and demand are smoothed alike, but not to the last bit.
    const held = target[key] === null || wanted - used < wanted * NOISE_RATIO ? 0 : wanted - used;
    usage += used;
    demand += wanted;
    throttled += held;
    if (held > most) [most, worstNode] = [held, node.nodeId];
  }
  const bucket = bucketOf(clusterBucket?.[what.dimension]);
  return { ...what, usage, demand, target: target[key], throttled, ...bucket, worstNode };
}

/** Shows a strict bucket: what its holders want, and what waits in the log of the depth. */
function strictRows(group: string, direction: TopRow['direction'], strict: StrictStatus): TopRow[] {
  const { holders, quotaPerSecond: target, pool, depth } = strict;
  const demand = holders.reduce((sum, { wantPerSecond }) => sum + wantPerSecond, 0);
  if (demand === 0 && strict.waiting === 0) return [];
  const throttled = Math.max(0, demand - target);
  const [most] = holders.toSorted((one, other) => other.wantPerSecond - one.wantPerSecond);
  const worstNode = throttled > 0 ? (most?.nodeId ?? null) : null;
  const bucket = { ...bucketOf(null), tokens: pool, depth };
  return [{ group, direction, dimension: 'messages', usage: null, demand, target, throttled, ...bucket, worstNode }];
}

type BucketCells = Pick<TopRow, 'tokens' | 'depth' | 'setPoint' | 'correctionPerSecond' | 'mostCharged'>;

function bucketOf(bucket: ClusterBucketStatus | null | undefined): BucketCells {
  const { tokens = null, depth = null, setPoint = null, correctionPerSecond = null } = bucket ?? {};
  const [most = null] = bucket?.charged ?? [];
  return { tokens, depth, setPoint, correctionPerSecond, mostCharged: most !== null && most.units > 0 ? most : null };
}

const NOISE_RATIO = 0.005;
