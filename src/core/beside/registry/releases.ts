import type { GroupHistory } from './group-history.js';
import { type AuditRecord, attachedPath, attachmentName, type ProposalRecord } from './registry-record.js';

/** A deletion that was accepted, and what it detaches; the group's own state does not contain it yet. */
interface Release {
  readonly offset: number;
  readonly group: string;
  /** Names of entries: first those attached to the group, then those that are the same as one of these, and so on. */
  readonly tiers: readonly (readonly string[])[];
  /** The index in `tiers` of each entry; that of the group is -1. */
  readonly tierOf: ReadonlyMap<string, number>;
}

/**
 * Deletions of groups that detach whatever leads to the group at their offset: one proposal, many entries.
 *
 * What leads to the group is known from the entries as they are at that offset. Compaction may take that away from a
 * later reader, so states follow an order: that of an entry is appended only when those of all that were detached
 * because of it contain the deletion, and the group's comes last. So there are two cases for every reader. The group's
 * state contains the deletion: then so do all the others, and the proposal means nothing any more. Or it does not:
 * then everything that decides about an entry that has not got its state yet is still in the log.
 * Worked: at 9, gold is deleted, acme is attached to it, and acme/orders is the same as acme. The states that contain
 * it come as acme/orders, acme, gold.
 */
export class Releases {
  readonly #groups: ReadonlyMap<string, GroupHistory>;
  /** In the order of the log. */
  #open: Release[] = [];

  constructor(groups: ReadonlyMap<string, GroupHistory>) {
    this.#groups = groups;
  }

  /** The proposal was accepted. Returns the changes that it makes beside that of the group. */
  apply(offset: number, proposal: ProposalRecord): AuditRecord[] {
    const { group } = proposal;
    const tiers = tiersOf(group, this.#attachmentsAt(offset));
    const tierByName = tiers.flatMap((names, tier) => names.map((name) => [name, tier] as const));
    this.#open.push({ offset, group, tiers, tierOf: new Map([...tierByName, [group, -1]]) });
    return tiers.flat().flatMap((name) => this.#groups.get(name)?.detach(offset, proposal, name) ?? []);
  }

  /** Called when another log begins. */
  forgetAll(): void {
    this.#open = [];
  }

  /** Goes through the log's deletions from the start, once nothing can be missing any more. */
  applyAgain(): void {
    this.#open = [];
    const accepted: { offset: number; proposal: ProposalRecord }[] = [];
    for (const history of this.#groups.values()) {
      history.forgetDetached();
      accepted.push(...history.releases());
    }
    accepted.sort((one, other) => one.offset - other.offset);
    for (const { offset, proposal } of accepted) this.apply(offset, proposal);
  }

  /** Entries whose states have to be in the log before that of this one may be appended. */
  before(name: string): string[] {
    if (this.#open.length === 0) return [];
    this.#open = this.#open.filter(({ group, offset }) => !this.#isContained(group, offset));
    return this.#open.flatMap(({ offset, tiers, tierOf }) => {
      const behind = tiers.slice((tierOf.get(name) ?? tiers.length) + 1).flat();
      return behind.filter((other) => !this.#isContained(other, offset));
    });
  }

  /** An entry that no longer exists keeps nothing waiting. */
  #isContained(name: string, offset: number): boolean {
    return this.#groups.get(name)?.contains(offset) ?? true;
  }

  /** Name → definition, without entries whose newest state is newer than this offset. */
  *#attachmentsAt(offset: number): Generator<Attached> {
    for (const [name, history] of this.#groups) {
      const definition = attachedPath(name) === null ? null : (history.at(offset)?.definition ?? null);
      if (definition !== null) yield [name, definition];
    }
  }
}

type Attached = readonly [name: string, definition: Readonly<Record<string, unknown>>];

function tiersOf(group: string, attachments: Iterable<Attached>): string[][] {
  const attached: string[] = [];
  const same = new Map<string, string[]>();
  for (const [name, definition] of attachments) {
    if (typeof definition.sameAs !== 'string') {
      if (definition.group === group) attached.push(name);
      continue;
    }
    const target = attachmentName(definition.sameAs);
    same.set(target, [...(same.get(target) ?? []), name]);
  }
  const tiers: string[][] = [];
  // An entry is the same as at most one other, so nothing is found twice, and a circle is never entered.
  let tier = attached;
  while (tier.length > 0) {
    tiers.push(tier);
    tier = tier.flatMap((name) => same.get(name) ?? []);
  }
  return tiers;
}
