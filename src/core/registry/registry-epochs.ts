import { type GroupHistory, type GroupState, NEVER } from './group-history.js';
import type { RegistryRecord } from './registry-record.js';

/** Offsets of one log; what lies above is the number of the epoch: 8,192 of them fit into an exact number. */
const OFFSETS = 2 ** 40;
export const EPOCHS_MAX = 2 ** 13 - 1;

/**
 * Places that rise for ever, whatever becomes of the log; and what the log before said, until this one says it.
 *
 *     place = number of the epoch · 2^40 + offset
 *
 * Revisions are places, and people hold them (If-Match): a log that is made anew begins with offset 0 and must not give
 * one again. So who has read another log before writes the next number into it, ahead of all that it writes. From there
 * on that number counts, for every reader alike; such records have keys of their own and are never freed. A log that
 * nobody has ever lost has the number 0, and its places are its offsets.
 *
 * What was in force stays so, and is written back as states with the revisions that they had (checkpoints.ts). Of two
 * nodes that do so the one that had read farther wins, in whatever order they come: by the revision.
 */
export class RegistryEpochs {
  /** As the topic calls it; null before the first. */
  name: string | null = null;
  /** Times that another log has begun under this process. */
  changes = 0;
  /** As far as this log has been read. */
  number = 0;
  #own = 0;
  readonly #remembered = new Map<string, GroupState>();

  placeOf(offset: number): number {
    return this.number * OFFSETS + offset;
  }

  /** Returns whether it is another log than before. */
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

  /** An epoch record, or one that can only have been written behind it: what follows has this number. */
  read(record: RegistryRecord): void {
    const number = numberIn(record);
    if (number > this.number && number <= EPOCHS_MAX) this.number = number;
  }

  /** The number that this node has to write into the log; null where it stands there, or there was no other log. */
  get unwritten(): number | null {
    return this.#own > this.number ? this.#own : null;
  }

  /** What the logs before said of a group, where this one says nothing that is newer. */
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

  /** The log has come to this. */
  said(group: string, { revision }: GroupState): void {
    if (this.#remembered.size > 0 && revision >= this.rememberedOf(group).revision) this.#remembered.delete(group);
  }

  /** Groups that the log lacks. */
  get lacking(): ReadonlyMap<string, GroupState> {
    return this.#remembered;
  }
}

/** Epoch records are enough by themselves, unless one was written again for the sake of its signature. */
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
