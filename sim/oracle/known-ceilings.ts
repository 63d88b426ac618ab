import type { ProcessRecord } from './process-record.js';

/**
 * Whether the processes of a view may stand at different ceilings of a group's ramp, for one of three reasons:
 *
 *   - One of them knows a ceiling that newcomers do not find in the log. It says it again within the time that
 *     recovery-law.ts allows.
 *   - One that began with a compacted log still has a ceiling that others have forgotten. Compaction has removed the
 *     records between which the log's clock was stepped back, so it has counted less time.
 *   - One remembers a life that a wrong key has written over, and has ignored a ceiling of the life before, which
 *     others have applied (docs/reference/promises.md).
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
