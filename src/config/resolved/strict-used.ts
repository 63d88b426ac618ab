import { DIRECTIONS, type Direction, MESSAGES } from '../../core/base/vocabulary.js';
import type { ResolvedConfig } from './resolved-config.js';
import { isStrictLane, strictQuotaOf } from './strict-quota.js';

/** Use of a strict lane, as far as the simulator knows. */
export interface StrictUse {
  readonly group: string;
  readonly direction: Direction;
  readonly nodes: number;
  /** Milliseconds to the log, and as many from it, at most. */
  readonly deliveryMs: number;
  /** Seconds of the quota that the bucket holds. */
  readonly depthSeconds: number;
  /** Part of a quota that is nearly asked for, where requests wait. */
  readonly used: number;
  /** Messages of a burst that uses enough; null = this one does. */
  readonly deeperBurst: number | null;
}

/** Part of the quota below which a deeper burst is asked for. */
const USED_ENOUGH = 0.8;
/** Nodes where nobody says how many. */
const NODES_DEFAULT = 3;
/** Milliseconds to the log where nobody says how many. */
const DELIVERY_MS_DEFAULT = { kafka: 20, others: 5 } as const;

/**
 * Tells the part of the quota used: nodes → a row per depth, a column per delivery. `quotamesh sim strict --used` of
 * commit 37af3c32; 30 nodes use 3 % less than 10 at worst.
 */
const USED: Readonly<Record<number, readonly (readonly number[])[]>> = {
  3: [
    [0.98, 0.95, 0.6, 0.36],
    [1, 0.99, 0.96, 0.58],
    [1, 1, 0.97, 0.96],
    [1, 1, 1, 0.98],
    [1, 1, 1, 1],
  ],
  5: [
    [0.99, 0.98, 0.72, 0.3],
    [1, 1, 0.98, 0.72],
    [1, 1, 0.99, 0.87],
    [1, 1, 1, 1],
    [0.99, 1, 1, 1],
  ],
  10: [
    [0.98, 0.96, 0.73, 0.31],
    [1, 1, 0.98, 0.83],
    [1, 1, 1, 0.89],
    [1, 1, 1, 1],
    [1, 1, 0.99, 1],
  ],
};
const DEPTHS_SECONDS = [0.1, 0.2, 0.3, 0.5, 1];
const DELIVERIES_MS = [5, 20, 50, 100];

/** Computes what a configuration's strict lanes will use. */
export function strictUses(
  config: Pick<ResolvedConfig, 'groups' | 'topic' | 'start'>,
  asked: { readonly nodes?: number; readonly delivery?: number } = {},
): readonly StrictUse[] {
  const nodes = asked.nodes ?? config.start.nodeCount ?? NODES_DEFAULT;
  const deliveryMs = asked.delivery ?? DELIVERY_MS_DEFAULT[config.topic.kind === 'kafka' ? 'kafka' : 'others'];
  return config.groups.flatMap((group) =>
    DIRECTIONS.flatMap((direction) => {
      const perSecond = group.quota[direction][MESSAGES] as number;
      if (!isStrictLane(group, direction) || perSecond === 0) return [];
      const depthSeconds = strictQuotaOf(group, direction).depth / perSecond;
      const used = usedPart(nodes, depthSeconds, deliveryMs);
      const enough = DEPTHS_SECONDS.find((deeper) => usedPart(nodes, deeper, deliveryMs) >= USED_ENOUGH);
      const deeperBurst = used >= USED_ENOUGH || enough === undefined ? null : Math.ceil(enough * perSecond);
      return [{ group: group.name, direction, nodes, deliveryMs, depthSeconds, used, deeperBurst }];
    }),
  );
}

/** Says a use for people; what is too little, with a remedy. */
export function strictUseText(use: StrictUse): string {
  const { group, direction, nodes, deliveryMs, depthSeconds, used, deeperBurst } = use;
  const of = `${nodes} ${nodes === 1 ? 'node' : 'nodes'}, ${deliveryMs} ms to the log, a burst of ${seconds(depthSeconds)}`;
  const remedy = deeperBurst === null ? '' : `; set burst: ${deeperBurst} to use more`;
  return `strict group ${group}, ${direction}: ${of} use about ${Math.round(100 * used)} % of the quota${remedy}`;
}

/**
 * Reads the table where it promises less: the fewer of the numbers of nodes around, the next slower log, the next
 * shallower bucket. Below the shallowest, a part as small as the depth.
 */
function usedPart(nodes: number, depthSeconds: number, deliveryMs: number): number {
  const known = Object.keys(USED).map(Number);
  const around = [known.findLast((each) => each <= nodes) ?? known[0], known.find((each) => each >= nodes)];
  const row = DEPTHS_SECONDS.findLastIndex((each) => each <= depthSeconds);
  const column = DELIVERIES_MS.findIndex((each) => each >= deliveryMs);
  const parts = around.flatMap((each) => (each === undefined ? [] : [USED[each]?.[Math.max(0, row)]?.[column] ?? 0]));
  return Math.min(...parts) * (row === -1 ? depthSeconds / (DEPTHS_SECONDS[0] as number) : 1);
}

function seconds(of: number): string {
  return `${Number(of.toPrecision(2))} s`;
}
