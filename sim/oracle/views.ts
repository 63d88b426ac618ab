import { nodeRecordKey } from '../../src/core/base/protocol/record.js';
import type { CoordinatorSettings } from '../../src/core/base/settings.js';
import type { NodeKey } from '../../src/core/base/vocabulary.js';
import type { SimulatedNode } from '../cluster/simulated-node.js';
import type { ProcessRecord } from './process-record.js';

/** Serving processes that have read the same: the same log, key and offsets. */
export interface Readers {
  /** A view: all of them must agree. */
  readonly view: ProcessRecord[];
  /**
   * Views by themselves:
   *
   *   - One that began with a compacted log: it may count a dead node for one more staleness, and takes less.
   *   - One counted as dead by the log: no sum has its share; it lives on its fallback.
   *   - One that has not read itself in a new log: it holds the old share, and others wait for one staleness.
   *   - One that has not read its newest life, as the log had a newer one of its id that may run.
   *   - One that remembers a running process's newer life than that has: a wrong key overwrote it.
   *   - One that began with a compacted log does not know a dead node that a wrong key overwrote, until its farewell.
   *   - Nor rows that a late record of their author's former life hides, until the author writes them again.
   */
  readonly apart: ProcessRecord[];
}

type UsedSettings = Pick<CoordinatorSettings, 'stalenessMs' | 'heartbeatMs'>;

export function readersOf(records: Iterable<ProcessRecord>, settings: UsedSettings): Readers[] {
  const all: Readers[] = [];
  const serving = [...records].filter(({ isServing }) => isServing);
  for (const record of serving) {
    const known = all.find(({ view, apart }) => isSame(view[0] ?? apart[0], record));
    const readers = known ?? { view: [], apart: [] };
    if (known === undefined) all.push(readers);
    const isComparable =
      mayBeCompared(record, settings) &&
      !remembersMore(record, serving) &&
      !missesDead(record, serving) &&
      !missesLife(record, serving);
    readers[isComparable ? 'view' : 'apart'].push(record);
  }
  return all;
}

/** Divides processes into those that must agree. */
export function viewsOf(readers: readonly Readers[]): ProcessRecord[][] {
  return readers
    .flatMap(({ view, apart }) => [view, ...apart.map((record) => [record])])
    .filter((view) => view.length > 0);
}

function isSame(one: ProcessRecord, other: ProcessRecord): boolean {
  return one.node.signingKey === other.node.signingKey && one.node.readOffsets.isEqual(other.node.readOffsets);
}

/** Tests if it ignores a serving process for a newer life's sake. */
export function remembersMore({ node }: ProcessRecord, records: Iterable<ProcessRecord>): boolean {
  const { log } = node.coordinator;
  for (const { node: other, isServing } of records) {
    if (!isServing || other.signingKey !== node.signingKey) continue;
    const { nodeKey, incarnation } = other.coordinator;
    if (log.newestLifeOf(nodeKey) > incarnation || remembersLonger(node, other)) return true;
  }
  return false;
}

/** Tests if it remembers a life that the compacted log hid. */
function remembersLonger({ coordinator }: SimulatedNode, other: SimulatedNode): boolean {
  if (!other.beganCompacted) return false;
  const { nodeKey, membership } = other.coordinator;
  const own = membership.get(nodeKey)?.lives;
  const remembered = coordinator.membership.get(nodeKey)?.lives;
  return own?.some((life, partition) => (remembered?.[partition] ?? 0) > life) === true;
}

/** Tests if its compacted log may hide a dead node. */
export function mayMissDead({ node }: ProcessRecord, records: Iterable<ProcessRecord>): boolean {
  if (!node.beganCompacted) return false;
  for (const { node: other } of records) {
    const { nodeKey } = other.coordinator;
    if (node.coordinator.log.logTimes.some((_, partition) => isHidden(node, nodeKey, partition))) return true;
  }
  return false;
}

/** Tests if a wrong key hid a dead node that others count; its farewell ends that. */
function missesDead(record: ProcessRecord, serving: readonly ProcessRecord[]): boolean {
  const { node } = record;
  if (!node.beganCompacted) return false;
  const others = serving.filter((other) => other !== record && isSame(other, record));
  return node.coordinator.log.logTimes.some((_, partition) =>
    others
      .flatMap((other) => other.node.coordinator.membership.on(partition).members)
      .some(({ nodeKey, state }) => state !== 'alive' && isHidden(node, nodeKey, partition)),
  );
}

/** Tests if a late record hides a life that others know. */
function missesLife(record: ProcessRecord, serving: readonly ProcessRecord[]): boolean {
  if (!record.node.beganCompacted) return false;
  const { membership } = record.node.coordinator;
  return serving.some((other) => {
    if (other === record || !isSame(other, record)) return false;
    return other.node.coordinator.membership.alive.some(({ nodeKey, lives }) => {
      const known = membership.get(nodeKey)?.lives;
      return known !== undefined && lives.some((life, partition) => life > (known[partition] ?? 0));
    });
  });
}

/** Tests if a wrong key has overwritten one that is no member. */
function isHidden(node: SimulatedNode, nodeKey: NodeKey, partition: number): boolean {
  const isMember = node.coordinator.membership.indexOf(nodeKey, partition) !== -1;
  return !isMember && node.isOverwritten(partition, nodeRecordKey(nodeKey));
}

function mayBeCompared(record: ProcessRecord, { stalenessMs, heartbeatMs }: UsedSettings): boolean {
  const { log, nodeKey, incarnation } = record.node.coordinator;
  if (!record.isMember || (log.epochs.isHolding && !log.epochs.isOwnRead)) return false;
  if (log.newestLifeOf(nodeKey) !== incarnation) return false;
  if (!record.node.beganCompacted) return true;
  const { caughtUpLogMs, node } = record;
  return caughtUpLogMs !== null && node.coordinator.log.membershipLogMs - caughtUpLogMs > stalenessMs + 2 * heartbeatMs;
}
