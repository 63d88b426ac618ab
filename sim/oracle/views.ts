import type { CoordinatorSettings } from '../../src/core/settings.js';
import type { ProcessRecord } from './process-record.js';

/**
 * Processes that must agree: those that have read the same log equally far, and all of it. Three kinds stand alone:
 * who began with a compacted log, until whom it misses has expired for everybody (it may believe a dead node for one
 * staleness longer, and takes less for itself meanwhile); whom the log has given up, because its share is in nobody's
 * sum: it lives on its fallback; and who has not read itself in a log that began anew, because the others need not wait
 * for it for longer than one staleness, and it holds until then what the log before gave it. The same for one that has
 * taken another life, because the log had a newer one of its id, and has not read it back, or is about to: that one may
 * run.
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
