import type {
  AuditRecord,
  BatchEntry,
  BatchRecord,
  GroupDefinition,
  ProposalRecord,
  StateRecord,
} from './registry-record.js';

/** A group as it is at one offset of the log. */
export interface GroupState {
  /** Offset of the proposal that made it so, plus 1; 0 = there was never one. Rises with every change. */
  readonly revision: number;
  /** null = there is no such group. */
  readonly definition: GroupDefinition | null;
}

export const NEVER: GroupState = { revision: 0, definition: null };

/** A key of the group that is in the log as far as this node has read. */
export interface LiveKey {
  readonly offset: number;
  readonly appendMs: number;
  /** This node's clock when it was read. */
  readonly readMs: number;
  readonly author: string;
  /**
   * A state whose `asOf` is above this number makes the record superfluous. For a proposal it is its offset, for a
   * state its own `asOf`.
   */
  readonly asOf: number;
  readonly isState: boolean;
  /** The revision of a state; 0 for a proposal. */
  readonly revision: number;
  readonly isToRenew: boolean;
}

/**
 * One group: the newest state record, and the proposals behind what it contains, folded in the order of the log.
 *
 *     current = fold(state, proposals with offset ≥ state.asOf)
 *
 * A proposal is accepted where the group has the revision that it expects. A function of the log alone, and of a
 * compacted log just as well: a proposal goes only after a state that contains it is in the log (or when it was
 * rejected), a state only after a later one is. Worked: proposals at offsets 4 (expects 0) and 5 (expects 0) → the
 * first wins with revision 5, the second is rejected; one at 9 that expects 5 wins with revision 10.
 */
export class GroupHistory {
  current: GroupState = NEVER;
  readonly keys = new Map<string, LiveKey>();
  /** What the newest state contains: all below this offset. */
  asOf = 0;
  #writtenAsOf = 0;
  #base: GroupState = NEVER;
  #proposals: Proposed[] = [];

  /** Returns the change that it makes; null where it is rejected, or contained in a state already. */
  propose(offset: number, proposal: ProposalRecord): AuditRecord | null {
    if (offset < this.asOf) return null;
    const proposed: Proposed = { offset, proposal, change: null };
    this.#proposals.push(proposed);
    this.#fold(proposed);
    return proposed.change;
  }

  /**
   * Detaches this entry together with the group whose deletion was proposed. Returns the change, or null if a state
   * contains it already.
   */
  detach(offset: number, { group: withGroup, ...deletion }: ProposalRecord, entry: string): AuditRecord | null {
    if (offset < this.asOf) return null;
    const { detaching: _, ...proposal } = { ...deletion, group: entry, expected: null };
    const proposed: Proposed = { offset, proposal, withGroup, change: null };
    this.#proposals.push(proposed);
    this.#proposals.sort((one, other) => one.offset - other.offset);
    this.#foldAll();
    return proposed.change;
  }

  /** Takes the change of an accepted batch. Returns it, or null if a state contains it already. */
  include(offset: number, { author, by }: BatchRecord, { group, definition }: BatchEntry): AuditRecord | null {
    if (offset < this.asOf) return null;
    // What the batch expects was judged for all of its groups together.
    const proposal = { kind: 'proposal', id: '', author, group, expected: null, definition, by } as const;
    const proposed: Proposed = { offset, proposal, inBatch: true, change: null };
    this.#proposals.push(proposed);
    this.#proposals.sort((one, other) => one.offset - other.offset);
    this.#foldAll();
    return proposed.change;
  }

  /** Called when a state that this node has appended is in the log, though perhaps not read back yet. */
  written(asOf: number): void {
    this.#writtenAsOf = Math.max(this.#writtenAsOf, asOf);
  }

  /** Whether a state in the log contains the record at this offset. */
  contains(offset: number): boolean {
    return Math.max(this.asOf, this.#writtenAsOf) > offset;
  }

  forgetDetached(): void {
    this.#keep(({ withGroup }) => withGroup === undefined);
  }

  forgetBatches(): void {
    this.#keep(({ inBatch }) => inBatch !== true);
  }

  #keep(isKept: (proposed: Proposed) => boolean): void {
    const kept = this.#proposals.filter(isKept);
    if (kept.length === this.#proposals.length) return;
    this.#proposals = kept;
    this.#foldAll();
  }

  /** Accepted deletions that no state contains, and that detach. */
  *releases(): Generator<{ readonly offset: number; readonly proposal: ProposalRecord }> {
    for (const { offset, proposal, change } of this.#proposals) {
      if (change !== null && proposal.detaching) yield { offset, proposal };
    }
  }

  /** The group before the record at this offset; null if the newest state is newer than that record. */
  at(offset: number): GroupState | null {
    if (this.asOf > offset) return null;
    let state = this.#base;
    for (const proposed of this.#proposals) {
      const { change } = proposed;
      if (proposed.offset < offset && change !== null) state = { revision: change.revision, definition: change.after };
    }
    return state;
  }

  /** Accepted changes that no state contains yet. */
  *changes(): Generator<AuditRecord> {
    for (const { change } of this.#proposals) if (change !== null) yield change;
  }

  /**
   * Called when a proposal is no longer in the log. Returns true if that is a loss: it was accepted, and no state
   * contains it.
   */
  forget(offset: number): boolean {
    const accepted = this.#proposals.some((proposed) => proposed.offset === offset && proposed.change !== null);
    if (!accepted) this.#proposals = this.#proposals.filter((proposed) => proposed.offset !== offset);
    return accepted;
  }

  /**
   * Takes over a state that is newer than the known one, wherever it stands in the log. In one log, a later state never
   * has an older revision. After a log was lost, two nodes may write back what it had said: then the one that had read
   * more of it wins.
   */
  adopt({ asOf, revision, definition }: Pick<StateRecord, 'asOf' | 'revision' | 'definition'>): void {
    const known = this.#base.revision;
    if (revision < known || (revision === known && asOf <= this.asOf)) return;
    this.asOf = Math.max(asOf, this.asOf);
    this.#base = { revision, definition };
    this.#proposals = this.#proposals.filter(({ offset }) => offset >= this.asOf);
    this.#foldAll();
  }

  /**
   * Whether a newcomer would not find the group without this key, which was buried by mistake: then its state is
   * written again.
   */
  isMissed({ offset, asOf, isState }: LiveKey): boolean {
    if (!isState) return this.forget(offset);
    if (this.current.definition === null) return false;
    for (const key of this.keys.values()) if (key.isState && key.asOf > asOf) return false;
    return true;
  }

  /** Whether the log holds a record that no state contains yet. */
  get isOpen(): boolean {
    return this.#proposals.length > 0;
  }

  /** Whether the only such records are batches. */
  get awaitsBatchesAlone(): boolean {
    return this.isOpen && this.#proposals.every(({ inBatch }) => inBatch === true);
  }

  /** Whether the log holds what must be written again although nothing has changed. */
  get isToRenew(): boolean {
    for (const key of this.keys.values()) if (key.isToRenew) return true;
    return false;
  }

  /**
   * Whether the state with the highest `asOf` is older than the one in force. That happens if two nodes write back what
   * a lost log had said, and the one that had read less of it comes later.
   */
  get isMisstated(): boolean {
    let newest: LiveKey | null = null;
    for (const key of this.keys.values()) if (key.isState && key.asOf > (newest?.asOf ?? -1)) newest = key;
    return newest !== null && !this.isOpen && newest.revision !== this.current.revision;
  }

  #foldAll(): void {
    this.current = this.#base;
    for (const proposed of this.#proposals) this.#fold(proposed);
  }

  #fold(proposed: Proposed): void {
    const { withGroup, inBatch } = proposed;
    const { expected, definition, author, group, by = null } = proposed.proposal;
    proposed.change = null;
    if (!isExpected(this.current, expected)) return;
    const revision = proposed.offset + 1;
    proposed.change = {
      kind: 'audit',
      author,
      group,
      revision,
      before: this.current.definition,
      after: definition,
      by,
      ...(withGroup !== undefined && { withGroup }),
      ...(inBatch && { inBatch }),
    };
    this.current = { revision, definition };
  }
}

/** Whether the group has the revision that a proposal expects. */
export function isExpected({ revision, definition }: GroupState, expected: number | null): boolean {
  if (expected === null) return true;
  return expected === 0 ? definition === null : definition !== null && revision === expected;
}

interface Proposed {
  readonly offset: number;
  readonly proposal: ProposalRecord;
  /** The group with which the entry was detached; absent = the proposal was about this entry itself. */
  readonly withGroup?: string;
  /** It comes from an accepted batch; absent = from a proposal of its own, or from a detaching one. */
  readonly inBatch?: true;
  change: AuditRecord | null;
}
