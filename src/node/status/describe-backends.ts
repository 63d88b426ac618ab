import { setImmediate as turn } from 'node:timers/promises';
import { type BackendId, DIRECTIONS, type GroupId } from '../../core/base/vocabulary.js';
import type { Coordinator } from '../../core/machine/coordinator.js';
import { busiest, type GroupCost } from '../../core/target/busiest.js';
import { BUSY_RATIO } from '../../core/target/constants/constants.js';
import { HEALTHY } from '../../core/target/throttling-ratio.js';
import type { BackendStatus } from '../api/node-status.js';
import type { StatusParts } from './status-parts.js';

type BackendsParts = Pick<StatusParts, 'loop' | 'groups'>;

/** Groups shown: FoundationDB's top 5 tags of a server. */
const BUSIEST_MAX = 5;

/** Describes backends with all groups that cost them, in pieces: 100,000 at once take 0.2 s. */
export async function describeBackends(parts: BackendsParts): Promise<readonly BackendStatus[]> {
  const { coordinator } = parts.loop;
  if (coordinator === null) return [];
  const described: BackendStatus[] = [];
  for (const { id, name, zone, health, ratio, isSilent, heardLogMs } of [...coordinator.targets.backends.all()]) {
    const { level, target, spring } = health.kind === 'level' ? health : NO_LEVEL;
    const { costPerSecond, most } = await costsOn(parts, coordinator, id);
    described.push({
      backend: name,
      zone,
      throttlingRatio: ratio === HEALTHY ? null : ratio,
      level,
      target,
      spring,
      silent: isSilent,
      healthAgeMs: coordinator.log.membershipLogMs - heardLogMs,
      costPerSecond,
      busiestGroups: busiest(most, BUSIEST_MAX, BUSY_RATIO * costPerSecond).map(({ group, cost }) => {
        const [direction = '', ...words] = group.split('/');
        const busyness = costPerSecond > 0 ? cost / costPerSecond : 0;
        return { group: words.join('/'), direction, costPerSecond: cost, busyness };
      }),
    });
  }
  return described.sort((one, other) => (one.backend < other.backend ? -1 : 1));
}

const NO_LEVEL = { level: null, target: null, spring: null };
/** Lanes per turn: about 2 ms. */
const LANES_PER_TURN = 1000;

/** Sums a backend's costs, and finds candidates for its busiest groups: `direction/name`. */
async function costsOn(parts: BackendsParts, { usageMap, targets }: Coordinator, backend: BackendId) {
  const most: GroupCost[] = [];
  const unknown = DIRECTIONS.map(() => 0);
  let [costPerSecond, looked] = [0, 0];
  // A copy, because reports move entries of the map meanwhile.
  for (const lane of [...usageMap.costs.lanesOn(backend)]) {
    if (++looked % LANES_PER_TURN === 0) await turn();
    const cost = targets.costOn(lane, backend);
    const { groupId, direction } = lane;
    costPerSecond += cost;
    if (targets.groupOf(groupId) === -1) unknown[direction] = unknown[direction] + cost;
    else if (most.length < BUSIEST_MAX || cost >= (most.at(-1) as GroupCost).cost) {
      most.push({ group: `${DIRECTIONS[direction]}/${groupName(parts, groupId)}`, cost });
      most.splice(0, most.length, ...busiest(most, BUSIEST_MAX, 0));
    }
  }
  unknown.forEach((cost, direction) => {
    if (cost > 0) most.push({ group: `${DIRECTIONS[direction]}/${NOT_CONFIGURED}`, cost });
  });
  return { costPerSecond, most };
}

const NOT_CONFIGURED = '(not configured here)';

/** Returns the name for a record's group number. */
export function groupName({ loop: { coordinator }, groups }: BackendsParts, groupId: GroupId): string {
  const group = coordinator?.targets.groupOf(groupId) ?? -1;
  return group === -1 ? NOT_CONFIGURED : groups.at(group).name;
}
