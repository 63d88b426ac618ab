import type {
  AuditRecord,
  BatchEntry,
  BatchRecord,
  GroupDefinition,
  ProposalRecord,
  StateRecord,
} from './registry-record.js';

export interface GroupState {
  /** Offset of its last proposal + 1, 0 = none; rises with every change. */
  readonly revision: number;
  /** Null = the group does not exist. */
  readonly definition: GroupDefinition | null;
}

export const NEVER: GroupState = { revision: 0, definition: null };

/** Key of the group that was read in the log. */
export interface LiveKey {
  readonly offset: number;
  /** Log time of its record. */
  readonly logMs: number;
  /** Local time of reading. */
  readonly readMs: number;
  readonly author: string;
  /** Proposal's offset, or state's `asOf`: a state with a higher `asOf` replaces the record. */
  readonly asOf: number;
  readonly isState: boolean;
  /** Revision of a state; 0 = a proposal. */
  readonly revision: number;
  readonly isToRenew: boolean;
}

/**
 * Folds one group: its newest state, and later proposals in log order.
 *
 *     current = fold(state, proposals with offset ≥ state.asOf)
 *
 * A proposal is accepted where the group has its expected revision. This is a function of the log, compacted or not: a
 * proposal goes when it was rejected or a state contains it, a state when a later one is there.
 *
 * *Worked:* proposals at 4 and 5 (both expect 0) → the first wins with revision 5, the second is rejected; one at 9
 * that expects 5 wins with revision 10.
 */
export class GroupHistory {
  current: GroupState = NEVER;
  readonly keys = new Map<string, LiveKey>();
  /** Offset below which the newest state contains all records. */
  asOf = 0;
  #writtenAsOf = 0;
  #base: GroupState = NEVER;
  #proposals: Proposed[] = [];

  /** Returns a proposal's change; null = rejected, or already in a state. */
  propose(offset: number, proposal: ProposalRecord): AuditRecord | null {
    if (offset < this.asOf) return null;
    const proposed: Proposed = { offset, proposal, change: null };
    this.#proposals.push(proposed);
    this.#fold(proposed);
    return proposed.change;
  }

  /** Detaches this entry with its deleted group; returns the change. Null = a state contains it. */
  detach(offset: number, { group: withGroup, ...deletion }: ProposalRecord, entry: string): AuditRecord | null {
    if (offset < this.asOf) return null;
    const { detaching: _, ...proposal } = { ...deletion, group: entry, expected: null };
    return this.#insert({ offset, proposal, withGroup, change: null });
  }

  /** Takes an accepted batch's change and returns it. Null = a state contains it. */
  include(offset: number, { author, by }: BatchRecord, { group, definition }: BatchEntry): AuditRecord | null {
    if (offset < this.asOf) return null;
    // The batch was judged for all of its groups together.
    const proposal = { kind: 'proposal', id: '', author, group, expected: null, definition, by } as const;
    return this.#insert({ offset, proposal, inBatch: true, change: null });
  }

  #insert(proposed: Proposed): AuditRecord | null {
    this.#proposals.push(proposed);
    this.#proposals.sort((one, other) => one.offset - other.offset);
    this.#foldAll();
    return proposed.change;
  }

  /** Notes an appended own state, perhaps before it is read back. */
  written(asOf: number): void {
    this.#writtenAsOf = Math.max(this.#writtenAsOf, asOf);
  }

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

  /** Yields accepted deletions that detach, and that no state contains. */
  *releases(): Generator<{ readonly offset: number; readonly proposal: ProposalRecord }> {
    for (const { offset, proposal, change } of this.#proposals) {
      if (change !== null && proposal.detaching) yield { offset, proposal };
    }
  }

  /** Returns the group before a record; null = the newest state is newer. */
  at(offset: number): GroupState | null {
    if (this.asOf > offset) return null;
    let state = this.#base;
    for (const proposed of this.#proposals) {
      const { change } = proposed;
      if (proposed.offset < offset && change !== null) state = { revision: change.revision, definition: change.after };
    }
    return state;
  }

  /** Yields accepted changes that no state contains. */
  *changes(): Generator<AuditRecord> {
    for (const { change } of this.#proposals) if (change !== null) yield change;
  }

  /** Notes a proposal that left the log; true = accepted and in no state. */
  forget(offset: number): boolean {
    const accepted = this.#proposals.some((proposed) => proposed.offset === offset && proposed.change !== null);
    if (!accepted) this.#proposals = this.#proposals.filter((proposed) => proposed.offset !== offset);
    return accepted;
  }

  /**
   * Adopts a newer state from anywhere in the log. In one log revisions never fall; of two nodes that write a lost log
   * back, the one that had read more wins.
   */
  adopt({ asOf, revision, definition }: Pick<StateRecord, 'asOf' | 'revision' | 'definition'>): void {
    const known = this.#base.revision;
    if (revision < known || (revision === known && asOf <= this.asOf)) return;
    this.asOf = Math.max(asOf, this.asOf);
    this.#base = { revision, definition };
    this.#proposals = this.#proposals.filter(({ offset }) => offset >= this.asOf);
    this.#foldAll();
  }

  /** Tests if newcomers lack the group without this buried key. */
  isMissed({ offset, asOf, isState }: LiveKey): boolean {
    if (!isState) return this.forget(offset);
    if (this.current.definition === null) return false;
    for (const key of this.keys.values()) if (key.isState && key.asOf > asOf) return false;
    return true;
  }

  get isOpen(): boolean {
    return this.#proposals.length > 0;
  }

  /** True = all its proposals are of batches. */
  get awaitsBatchesAlone(): boolean {
    return this.isOpen && this.#proposals.every(({ inBatch }) => inBatch === true);
  }

  /** True = its state must be written again, though unchanged. */
  get isToRenew(): boolean {
    for (const key of this.keys.values()) if (key.isToRenew) return true;
    return false;
  }

  /** True = the state with the highest `asOf` is outdated: a node that had read less wrote a lost log back later. */
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

export function isExpected({ revision, definition }: GroupState, expected: number | null): boolean {
  if (expected === null) return true;
  return expected === 0 ? definition === null : definition !== null && revision === expected;
}

interface Proposed {
  readonly offset: number;
  readonly proposal: ProposalRecord;
  /** Group with which it was detached; absent = its own proposal. */
  readonly withGroup?: string;
  /** True = of an accepted batch; absent = of a proposal. */
  readonly inBatch?: true;
  change: AuditRecord | null;
}
