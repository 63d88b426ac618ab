import type { ProcessRecord } from './process-record.js';

/**
 * Tests if processes of a view may know different ceilings of a ramp:
 *
 *   - One knows a ceiling that newcomers do not find; it publishes it again as recovery-law.ts allows.
 *   - One that began with a compacted log keeps a forgotten ceiling: compaction hid the log clock's step back.
 *   - One remembers a life overwritten by a wrong key, and ignored the former life's ceiling
 *     (docs/reference/promises.md).
 */
export function mayDifferInRamp(view: readonly ProcessRecord[], group: number, hasSteppedBack: boolean): boolean {
  if (view[0]?.node.coordinator.settings.groups[group]?.ramp === null) return false;
  if (view.some((record) => record.node.coordinator.hiddenCeilings.has(laneOf(record, group).mapLane))) return true;
  const [first, ...others] = view.map(({ node }) => node.coordinator.log.ignored['old-incarnation']);
  if (others.some((ignored) => ignored !== first)) return true;
  if (!hasSteppedBack) return false;
  const forgetful = view.some((record) => !hasCeiling(record, group));
  return forgetful && view.some((record) => record.node.beganCompacted && hasCeiling(record, group));
}

export function laneOf({ node: { coordinator } }: ProcessRecord, group: number) {
  return coordinator.laneOf(coordinator.groupIdOf(group), 0);
}

function hasCeiling(record: ProcessRecord, group: number): boolean {
  const { mapLane, partition } = laneOf(record, group);
  return record.node.coordinator.targets.ramps[partition].newestOf(mapLane) !== undefined;
}
