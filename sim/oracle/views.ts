import type { CoordinatorSettings } from '../../src/core/settings.js';
import type { ProcessRecord } from './process-record.js';

/**
 * Divides the processes into those that must agree: they read the same log, with the same signing key, and have read it
 * equally far. Four kinds of process are a view by themselves:
 *
 *   - One that began with a compacted log. It may believe a dead node for one staleness longer than the others, and
 *     takes less for itself meanwhile.
 *   - One that the log counts as dead. Its share is in nobody's sum; it lives on its fallback.
 *   - One that has not read itself in a new log. It holds what the old log gave it, and the others wait for it for one
 *     staleness at most.
 *   - One that has not read its own newest life, because the log had a newer life of its id, which may still run.
 */
export function viewsOf(
  records: Iterable<ProcessRecord>,
  settings: Pick<CoordinatorSettings, 'stalenessMs' | 'heartbeatMs'>,
): ProcessRecord[][] {
  const views: ProcessRecord[][] = [];
  for (const record of records) {
    if (!record.isServing) continue;
    const known = isComparable(record, settings)
      ? views.find(
          (view) => isComparable(view[0] as ProcessRecord, settings) && isSame(view[0] as ProcessRecord, record),
        )
      : undefined;
    if (known === undefined) views.push([record]);
    else known.push(record);
  }
  return views;
}

function isSame(one: ProcessRecord, other: ProcessRecord): boolean {
  return one.node.signingKey === other.node.signingKey && one.node.position.isEqual(other.node.position);
}

function isComparable(
  record: ProcessRecord,
  { stalenessMs, heartbeatMs }: Pick<CoordinatorSettings, 'stalenessMs' | 'heartbeatMs'>,
): boolean {
  const { log, nodeKey, incarnation } = record.node.coordinator;
  if (!record.isMember || (log.epochs.isHolding && !log.epochs.isOwnRead)) return false;
  if (log.newestLifeOf(nodeKey) !== incarnation) return false;
  if (!record.node.beganCompacted) return true;
  const { caughtUpLogMs, node } = record;
  return caughtUpLogMs !== null && node.coordinator.log.membershipLogMs - caughtUpLogMs > stalenessMs + 2 * heartbeatMs;
}
