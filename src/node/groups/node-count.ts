import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { showSent } from '../../base/input/input-mistakes.js';
import { withAll } from '../../config/read/build-config.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { GroupTable } from './group-table.js';
import type { GroupsInForce } from './groups-in-force.js';

interface NodeCountParts {
  readonly config: Pick<ResolvedConfig, 'topic'>;
  readonly groups: GroupTable;
  readonly inForce: GroupsInForce;
}

/** Divides every group by `nodeCount` from now on. Throws NODE_COUNT_INVALID. */
export function divideByNodeCount({ config, groups, inForce }: NodeCountParts, nodeCount: number): void {
  if (config.topic.kind !== 'none') {
    throw new QuotameshError('NODE_COUNT_INVALID', {
      reason: `nodes of topic kind ${config.topic.kind} count each other`,
    });
  }
  if (!Number.isSafeInteger(nodeCount) || nodeCount < 1 || nodeCount > NODE_COUNT_MAX) {
    const reason = `it must be a whole number from 1 to ${NODE_COUNT_MAX}, got ${showSent(nodeCount)}`;
    throw new QuotameshError('NODE_COUNT_INVALID', { reason });
  }
  for (const group of [...groups.numbers.values()]) inForce.define(withAll(groups.at(group), { nodeCount }));
}

/** Bound of `topic.nodeCount` in the settings table. */
const NODE_COUNT_MAX = 10_000;
