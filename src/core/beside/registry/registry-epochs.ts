import { UNREAD_MAX } from '../constants.js';
import { type GroupHistory, type GroupState, NEVER } from './group-history.js';
import type { RegistryRecord } from './registry-record.js';

/** Largest base of a log, so that lasting offsets stay exact. */
export const BASE_MAX = 2 ** 52;

/**
 * Gives records lasting offsets, which rise over all logs. It keeps the old log's states until the new log has them.
 *
 *     lasting offset = offset + shift
 *     shift          = max over the epoch records before it of (base − offset behind the epoch record)
 *
 * Clients hold revisions (If-Match), so no revision may be given twice, or depend on the first offset of a log. A node
 * that finds no epoch record writes one first, with base 0, or above all that it has read of other logs. It counts from
 * there on, for all readers; it is never freed. Old states are written back with their revisions (checkpoints.ts); of
 * two writers the one that had read farther wins.
 *
 * *Worked:* offsets begin at 2^50; two nodes write base 0 at 2^50 + 1 and 2^50 + 2. The record behind the first has
 * lasting offset 0; the second changes nothing.
 */
export class RegistryEpochs {
  /** Topic's name of the log; null = none yet. */
  name: string | null = null;
  changes = 0;
  /** Addend of this log's offsets; null = no epoch record read. */
  #shift: number | null = null;
  /** Base that this node writes. */
  #own = 0;
  /** Largest base read in this log; -1 = none. */
  #base = -1;
  /** States of earlier logs that this log lacks. */
  readonly #remembered = new Map<string, GroupState>();

  /** Returns a lasting offset; null before the first epoch record. No record whose offset decides stands there. */
  lastingOffsetOf(offset: number): number | null {
    return this.#shift === null ? null : offset + this.#shift;
  }

  get shift(): number {
    return this.#shift ?? 0;
  }

  /** Begins a log; returns true if another was read before. @param nextOffset of the log before */
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

  /** Reads an epoch record's base, or a state's shift. A renewed epoch record may stand behind such states. */
  read(record: RegistryRecord, offset: number): void {
    if (record.kind === 'state') this.#raise(record.shift);
    if (record.kind !== 'epoch') return;
    this.#raise(record.base - (record.at ?? offset) - 1);
    this.#base = Math.max(this.#base, record.base);
  }

  #raise(shift: number): void {
    this.#shift = Math.max(this.#shift ?? shift, shift);
  }

  /** Base to write; null = the log has it, or a higher one. */
  get unwritten(): number | null {
    return this.#own > this.#base ? this.#own : null;
  }

  /** Returns the newest state of a group in earlier logs. */
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

  /** Forgets the earlier logs' state that this log's supersedes. */
  said(group: string, { revision }: GroupState): void {
    if (this.#remembered.size > 0 && revision >= this.rememberedOf(group).revision) this.#remembered.delete(group);
  }

  get lacking(): ReadonlyMap<string, GroupState> {
    return this.#remembered;
  }
}
