import { type GroupHistory, type GroupState, NEVER } from './group-history.js';
import type { RegistryRecord } from './registry-record.js';

/** More offsets than a log ever has. The epoch's number stands above them: 8,192 epochs fit into an exact number. */
const OFFSETS = 2 ** 40;
export const EPOCHS_MAX = 2 ** 13 - 1;

/**
 * Gives records lasting offsets, which rise for ever even if the log is replaced, and remembers what the old log said
 * until the new one says it.
 *
 *     lasting offset = number of the epoch · 2^40 + offset
 *
 * Revisions are lasting offsets, and clients hold them (If-Match), so none may be given twice. A new log begins with
 * offset 0 again. A node that has read another log before therefore writes the next number into the new one, ahead of
 * everything else that it writes. The number counts from there on, for all readers alike. Its records have keys of
 * their own and are never freed. A log that has never been lost has the number 0: there both are the same.
 *
 * What was in force stays in force, and is written back as states with their old revisions (checkpoints.ts). If two
 * nodes do so, the one that had read farther wins by the revision, whichever comes first.
 */
export class RegistryEpochs {
  /** The name that the topic gives to the log; null before the first log. */
  name: string | null = null;
  /** How often the log was replaced under this process. */
  changes = 0;
  /** The largest number in what has been read of this log. */
  number = 0;
  /** The number that this node gives to this log; 0 = it has read no other log. */
  #own = 0;
  /** States from earlier logs that this log does not have yet. */
  readonly #remembered = new Map<string, GroupState>();

  lastingOffsetOf(offset: number): number {
    return this.number * OFFSETS + offset;
  }

  /** Called when a log begins. Returns whether another log was read before. */
  begin(name: string, groups: ReadonlyMap<string, GroupHistory>): boolean {
    const isFirst = this.name === null;
    this.name = name;
    if (isFirst) return false;
    for (const [group, { current }] of groups) {
      if (current.revision > this.rememberedOf(group).revision) this.#remembered.set(group, current);
    }
    this.#own = Math.min(EPOCHS_MAX, Math.max(this.#own, this.number) + 1);
    this.number = 0;
    this.changes++;
    return true;
  }

  /** Takes the number of an epoch record, or of a record that can only have been written after one. */
  read(record: RegistryRecord): void {
    const number = numberIn(record);
    if (number > this.number && number <= EPOCHS_MAX) this.number = number;
  }

  /** The number that this node has to write into the log; null if the log has it, or if there was no other log. */
  get unwritten(): number | null {
    return this.#own > this.number ? this.#own : null;
  }

  /** What earlier logs said of a group, if this one says nothing newer. */
  rememberedOf(group: string): GroupState {
    return this.#remembered.get(group) ?? NEVER;
  }

  stateOf(group: string, groups: ReadonlyMap<string, GroupHistory>): GroupState {
    const current = groups.get(group)?.current ?? NEVER;
    const remembered = this.rememberedOf(group);
    return remembered.revision > current.revision ? remembered : current;
  }

  *names(groups: ReadonlyMap<string, GroupHistory>): Generator<string> {
    for (const name of new Set([...groups.keys(), ...this.#remembered.keys()])) {
      if (this.stateOf(name, groups).definition !== null) yield name;
    }
  }

  /** Called when this log has said the state of a group: what is not newer need not be remembered. */
  said(group: string, { revision }: GroupState): void {
    if (this.#remembered.size > 0 && revision >= this.rememberedOf(group).revision) this.#remembered.delete(group);
  }

  /** Groups of earlier logs that this log lacks, with their states. */
  get lacking(): ReadonlyMap<string, GroupState> {
    return this.#remembered;
  }
}

/**
 * The number that a record proves. Epoch records alone would do; but one that was written again to renew its signature
 * stands after records that it should precede.
 */
function numberIn(record: RegistryRecord): number {
  switch (record.kind) {
    case 'epoch':
      return record.number;
    case 'state':
      return Math.floor(record.asOf / OFFSETS);
    case 'audit':
      return Math.floor(record.revision / OFFSETS);
    default:
      return 0;
  }
}
