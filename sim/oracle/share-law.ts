import type { GroupSettings } from '../../src/core/base/settings.js';
import { laneOf, MESSAGES, slotOf } from '../../src/core/base/vocabulary.js';
import { DEFAULT_STRATEGY } from '../../src/core/convergence/strategies.js';
import type { World } from '../cluster/world.js';
import type { ProcessRecord } from './process-record.js';

type Fail = (promise: string, about: string, says: string) => void;

/** Shares of all members, by one process. */
interface Division {
  readonly members: readonly number[];
  readonly shares: Float64Array;
}

/** Checks that a view's processes agree on members and shares, applying them. */
export function checkAgreement(
  view: readonly ProcessRecord[],
  { settings, topic }: Pick<World, 'settings' | 'topic'>,
  fail: Fail,
): void {
  settings.groups.forEach((settingsOfOne, group) => {
    const { name, quota } = settingsOfOne;
    const mayDiffer = mayDifferInRamp(view, group, topic.hasSteppedBack);
    const divisions = view.map((record) => divisionOf(record, group));
    view.forEach((record, at) => {
      const own = divisions[at];
      const target = quota.publish[MESSAGES];
      const total = own.shares.reduce((sum, share) => sum + share, 0);
      const isMissing = own.shares.length > 0 && total < target * (1 - 1e-9);
      const given = `${total} of ${target}`;
      if (total > target * (1 + 1e-9)) fail('sum of shares', name, `as ${record.name} computes them: ${given}`);
      if (isMissing && givesWholeTarget(settingsOfOne)) {
        fail('whole target', name, `as ${record.name} computes it: ${given} are given to anybody`);
      }
      checkApplied(record, group, own, (says) => fail('applied shares', name, `${record.name} ${says}`));
      if (at === 0 || mayDiffer) return;
      const first = view[0];
      const agreesOnPool = record.node.coordinator.shares.strategyOf(group).agreesOnPool === true;
      if (agreesOnPool && (first.hasPoolOfItsOwn || record.hasPoolOfItsOwn)) return;
      const difference = differenceOf(first, divisions[0], record, own, agreesOnPool);
      if (difference !== null) fail('same view', name, difference);
    });
  });
}

function divisionOf(record: ProcessRecord, group: number): Division {
  const { coordinator } = record.node;
  const view = coordinator.shares.converge(group, mapLaneOf(record, group));
  const members = record.membersOf(group).map(({ nodeKey }) => nodeKey);
  return { members, shares: view.share[MESSAGES].slice(0, view.count) };
}

/** Tests if the whole target is divided: no smoothing, slewing or ramps. */
function givesWholeTarget(group: GroupSettings): boolean {
  const isPlain = group.smoothingMs === 0 && group.slewPerSecond === Infinity && group.ramp === null;
  return group.strategy === DEFAULT_STRATEGY && isPlain && group.headroom !== 'none' && group.maxShareRatio === 1;
}

/** Checks that linked processes apply their share, others at most that. */
function checkApplied(record: ProcessRecord, group: number, own: Division, fail: (says: string) => void): void {
  const { node, isServed, isMember } = record;
  const { coordinator } = node;
  // In an incomplete log a process holds what it had (isolation-law.ts).
  if (!isServed[group] || !isMember || coordinator.log.epochs.isHolding) return;
  const applied = coordinator.shares.applied[slotOf(laneOf(group, 0), MESSAGES)];
  const due = own.shares[own.members.indexOf(coordinator.nodeKey)];
  const isLinked = coordinator.lanes.get(laneOf(group, 0))?.link === 'linked';
  if (applied > due * (1 + 1e-9)) fail(`applies ${applied} where the log gives it ${due}`);
  else if (isLinked && applied !== due) fail(`hears itself and applies ${applied} where the log gives it ${due}`);
}

/** Compares two processes of a view; own parts of a pool may differ by unread claims. */
function differenceOf(
  first: ProcessRecord,
  one: Division,
  second: ProcessRecord,
  other: Division,
  agreesOnPool: boolean,
): string | null {
  const names = `${first.name} and ${second.name}, both at ${first.node.readOffsets.next.join('/')}`;
  if (one.members.length !== other.members.length || one.members.some((key, at) => key !== other.members[at])) {
    return `${names} know ${one.members.length} and ${other.members.length} members`;
  }
  const own = agreesOnPool ? [first, second].map(({ node }) => one.members.indexOf(node.coordinator.nodeKey)) : [];
  const differing = one.shares.findIndex((share, at) => share !== other.shares[at] && !own.includes(at));
  if (differing === -1) return null;
  return `${names} give member ${differing} ${one.shares[differing]} and ${other.shares[differing]}`;
}

/**
 * Tests if a view's processes may know different ceilings of a ramp:
 *
 *   - One knows a ceiling that newcomers do not find; it publishes it again as recovery-law.ts allows.
 *   - One that began with a compacted log keeps a forgotten ceiling: compaction hid the log clock's step back.
 *   - One remembers a life overwritten by a wrong key, and ignored the former life's ceiling
 *     (docs/reference/promises.md).
 */
function mayDifferInRamp(view: readonly ProcessRecord[], group: number, hasSteppedBack: boolean): boolean {
  if (view[0]?.node.coordinator.settings.groups[group]?.ramp === null) return false;
  if (view.some((record) => record.node.coordinator.hiddenCeilings.has(mapLaneOf(record, group).mapLane))) return true;
  const [first, ...others] = view.map(({ node }) => node.coordinator.log.ignored['old-incarnation']);
  if (others.some((ignored) => ignored !== first)) return true;
  if (!hasSteppedBack) return false;
  const forgetful = view.some((record) => !hasCeiling(record, group));
  return forgetful && view.some((record) => record.node.beganCompacted && hasCeiling(record, group));
}

function mapLaneOf({ node: { coordinator } }: ProcessRecord, group: number) {
  return coordinator.laneOf(coordinator.groupIdOf(group), 0);
}

function hasCeiling(record: ProcessRecord, group: number): boolean {
  const { mapLane, partition } = mapLaneOf(record, group);
  return record.node.coordinator.targets.ramps[partition].newestOf(mapLane) !== undefined;
}
