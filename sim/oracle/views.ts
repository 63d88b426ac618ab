import type { CoordinatorSettings } from '../../src/core/base/settings.js';
import type { ProcessRecord } from './process-record.js';

/**
 * Divides the processes into those that must agree: they read the same log, with the same signing key, and have read it
 * equally far. Five kinds of process are a view by themselves:
 *
 *   - One that began with a compacted log. It may believe a dead node for one staleness longer than the others, and
 *     takes less for itself meanwhile.
 *   - One that the log counts as dead. Its share is in nobody's sum; it lives on its fallback.
 *   - One that has not read itself in a new log. It holds what the old log gave it, and the others wait for it for one
 *     staleness at most.
 *   - One that has not read its own newest life, because the log had a newer life of its id, which may still run.
 *   - One that remembers a newer life of another running process than that process has. A wrong key had written over
 *     that life, so the process cannot know of it until the others have told it.
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

/** Whether it ignores what a running process says, because it remembers a newer life of that process's id. */
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
