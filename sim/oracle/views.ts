import type { CoordinatorSettings } from '../../src/core/base/settings.js';
import type { ProcessRecord } from './process-record.js';

/**
 * Divides processes into those that must agree: same log, key and offsets. Views by themselves:
 *
 *   - One that began with a compacted log: it may count a dead node for one more staleness, and takes less.
 *   - One counted as dead by the log: no sum has its share; it lives on its fallback.
 *   - One that has not read itself in a new log: it holds the old share, and others wait for one staleness.
 *   - One that has not read its newest life, as the log had a newer one of its id that may run.
 *   - One that remembers a running process's newer life than that has: a wrong key overwrote it.
 */
export function viewsOf(
  records: Iterable<ProcessRecord>,
  settings: Pick<CoordinatorSettings, 'stalenessMs' | 'heartbeatMs'>,
): ProcessRecord[][] {
  const views: ProcessRecord[][] = [];
  const serving = [...records].filter(({ isServing }) => isServing);
  const comparable = new Set(
    serving.filter((record) => isComparable(record, settings) && !remembersMore(record, serving)),
  );
  for (const record of serving) {
    const known = comparable.has(record)
      ? views.find((view) => comparable.has(view[0]) && isSame(view[0], record))
      : undefined;
    if (known === undefined) views.push([record]);
    else known.push(record);
  }
  return views;
}

function isSame(one: ProcessRecord, other: ProcessRecord): boolean {
  return one.node.signingKey === other.node.signingKey && one.node.readOffsets.isEqual(other.node.readOffsets);
}

/** Tests if it ignores a running process, remembering a newer life of its id. */
export function remembersMore({ node }: ProcessRecord, serving: readonly ProcessRecord[]): boolean {
  const { log } = node.coordinator;
  return serving.some(({ node: { coordinator, signingKey } }) => {
    return signingKey === node.signingKey && log.newestLifeOf(coordinator.nodeKey) > coordinator.incarnation;
  });
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
