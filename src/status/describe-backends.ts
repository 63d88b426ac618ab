import { DIRECTION_COUNT, DIRECTIONS, type GroupId } from '../core/base/vocabulary.js';
import { busiest } from '../core/target/busiest.js';
import { HEALTHY } from '../core/target/throttling-ratio.js';

import type { StatusParts } from './status-parts.js';

type BackendsParts = Pick<StatusParts, 'loop' | 'groups'>;

/** A backend as `/v1/backends` shows it. */
export interface BackendStatus {
  readonly backend: string;
  readonly zone: string;
  /** Part of its present work that it can bear; null = not near saturation, or silent. */
  readonly throttlingRatio: number | null;
  readonly level: number | null;
  readonly target: number | null;
  readonly spring: number | null;
  /** Nobody has said how it is for limiting.healthValidMs: nothing is limited for it. */
  readonly silent: boolean;
  readonly heardAgoMs: number;
  readonly costPerSecond: number;
  readonly busiestGroups: readonly BusyGroup[];
}

export interface BusyGroup {
  readonly group: string;
  readonly direction: string;
  readonly costPerSecond: number;
  /** Its part of the backend's cost, 0 … 1. */
  readonly busyness: number;
}

/** FoundationDB reports the top 5 tags of a server. */
const BUSIEST_MAX = 5;
/** … above a floor; here a part of what the backend does. */
const BUSIEST_RATIO = 0.01;

export function describeBackends(parts: BackendsParts): readonly BackendStatus[] {
  const { coordinator } = parts.loop;
  if (coordinator === null) return [];
  const logMs = coordinator.log.membershipLogMs;
  return Array.from(coordinator.targets.backends.all(), ({ id, name, zone, health, ratio, isSilent, heardLogMs }) => {
    const groups = groupsOn(parts, id);
    const costPerSecond = groups.reduce((sum, { cost }) => sum + cost, 0);
    const { level, target, spring } = health.kind === 'level' ? health : NO_LEVEL;
    return {
      backend: name,
      zone,
      throttlingRatio: ratio === HEALTHY ? null : ratio,
      level,
      target,
      spring,
      silent: isSilent,
      heardAgoMs: logMs - heardLogMs,
      costPerSecond,
      busiestGroups: busiest(groups, BUSIEST_MAX, BUSIEST_RATIO * costPerSecond).map(({ group, cost }) => {
        const [direction = '', ...words] = group.split('/');
        const busyness = costPerSecond > 0 ? cost / costPerSecond : 0;
        return { group: words.join('/'), direction, costPerSecond: cost, busyness };
      }),
    };
  }).sort((one, other) => (one.backend < other.backend ? -1 : 1));
}

const NO_LEVEL = { level: null, target: null, spring: null };

/** Groups that are configured here, as `direction/name`, with their cost on a backend. */
function groupsOn(parts: BackendsParts, backend: number): { group: string; cost: number }[] {
  const { coordinator } = parts.loop;
  if (coordinator === null) return [];
  const { usageMap, targets } = coordinator;
  return Array.from(usageMap.costs.lanesOn(backend), (lane) => {
    const name = groupName(parts, Math.floor(lane.key / DIRECTION_COUNT));
    return { group: `${DIRECTIONS[lane.key % DIRECTION_COUNT]}/${name}`, cost: targets.costOn(lane, backend) };
  });
}

/** The name of a group by the number that records have for it. */
export function groupName({ loop: { coordinator }, groups }: BackendsParts, groupId: GroupId): string {
  const group = coordinator?.targets.groupOf(groupId);
  return group === undefined ? '(not configured here)' : groups.at(group).name;
}
