import { type GroupHistory, type GroupState, NEVER } from './group-history.js';
import type { RegistryRecord } from './registry-record.js';

/**
 * Separates the last known lasting offset of a log from the first of the next. A larger value covers more changes that
 * died with their readers, and uses up numbers sooner: this one is enough for 2^32 logs.
 */
export const UNREAD_MAX = 2 ** 20;
/** Bounds where a log may begin, so that lasting offsets stay exact numbers. */
export const BASE_MAX = 2 ** 52;

/**
 * Gives records lasting offsets, which rise even when the log is replaced. Remembers what the old log said until the
 * new one says it.
 *
 *     lasting offset = offset + shift
 *     shift          = max over the epoch records before it of (base − offset behind the epoch record)
 *
 * Revisions are lasting offsets, and clients hold them (If-Match), so none may be given twice, and they may not depend
 * on where a topic's offsets begin. Whoever finds no epoch record therefore writes one, ahead of everything else. Its
 * base is 0 for a node that has read no other log, and else lies above all that the node has read. It counts from there
 * on, for all readers alike. Epoch records have keys of their own and are never freed.
 * Worked: offsets begin at 2^50; two nodes write base 0 at 2^50 + 1 and 2^50 + 2. The record behind the first one has
 * the lasting offset 0; the second one changes nothing.
 *
 * What was in force stays in force, and is written back as states with their old revisions (checkpoints.ts). If two
 * nodes do so, the one that had read farther wins by the revision, whichever comes first.
 */
export class RegistryEpochs {
  /** The name that the topic gives to the log; null before the first log. */
  name: string | null = null;
  /** How often the log was replaced under this process. */
  changes = 0;
  /** What is added to offsets of this log; null until an epoch record was read. */
  #shift: number | null = null;
  /** Where this node lets the log begin. */
  #own = 0;
  /** The largest base read in this log; -1 = none. */
  #base = -1;
  /** States from earlier logs that this log does not have yet. */
  readonly #remembered = new Map<string, GroupState>();

  /** Null ahead of the first epoch record, where nodes write nothing that an offset decides. */
  lastingOffsetOf(offset: number): number | null {
    return this.#shift === null ? null : offset + this.#shift;
  }

  get shift(): number {
    return this.#shift ?? 0;
  }

  /**
   * Called when a log begins. Returns whether another log was read before.
   *
   * @param nextOffset of the log before
   */
  begin(name: string, groups: ReadonlyMap<string, GroupHistory>, nextOffset: number): boolean {
    const isFirst = this.name === null;
    this.name = name;
    if (isFirst) return false;
    for (const [group, { current }] of groups) {
      if (current.revision > this.rememberedOf(group).revision) this.#remembered.set(group, current);
    }
    this.#own = Math.min(BASE_MAX, Math.max(this.#own, this.lastingOffsetOf(nextOffset) ?? 0) + UNREAD_MAX);
    this.#shift = null;
    this.#base = -1;
    this.changes++;
    return true;
  }

  /**
   * Takes what an epoch record says, or a state, whose writer has read one. Epoch records alone would do; but one that
   * was written again to renew its signature stands after records that it should precede.
   */
  read(record: RegistryRecord, offset: number): void {
    if (record.kind === 'state') this.#raise(record.shift);
    if (record.kind !== 'epoch') return;
    this.#raise(record.base - (record.at ?? offset) - 1);
    this.#base = Math.max(this.#base, record.base);
  }

  #raise(shift: number): void {
    this.#shift = Math.max(this.#shift ?? shift, shift);
  }

  /** The base that this node has to write into the log; null if the log has it, or a higher one. */
  get unwritten(): number | null {
    return this.#own > this.#base ? this.#own : null;
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
