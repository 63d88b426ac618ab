import type { GroupHistory } from './group-history.js';
import { type AuditRecord, attachedPath, attachmentName, type ProposalRecord } from './registry-record.js';

/** Accepted deletion with its detachments, until the group's own state contains it. */
interface Release {
  readonly offset: number;
  readonly group: string;
  /** Names: first those attached to the group, then those the same as one of these, and so on. */
  readonly tiers: readonly (readonly string[])[];
  /** Index in `tiers` of each entry; -1 = the group. */
  readonly tierOf: ReadonlyMap<string, number>;
}

/**
 * Applies deletions that detach all attachments leading to the group: one proposal, many entries. The entries as of its
 * offset decide, and compaction may take their records away. So states are written in an order: an entry's after those
 * of all entries detached because of it, and the group's last. Then one of two things holds:
 *
 * - The group's state contains the deletion, and so do all others.
 * - All records that decide about entries without a state are still in the log.
 *
 * *Worked:* at 9, gold is deleted, acme is attached to it, acme/orders is the same as acme: states come as acme/orders,
 * acme, gold.
 */
export class Releases {
  readonly #groups: ReadonlyMap<string, GroupHistory>;
  /** In log order. */
  #open: Release[] = [];

  constructor(groups: ReadonlyMap<string, GroupHistory>) {
    this.#groups = groups;
  }

  /** Applies an accepted proposal; returns its changes beside the group's own. */
  apply(offset: number, proposal: ProposalRecord): AuditRecord[] {
    const { group } = proposal;
    const tiers = tiersOf(group, this.#attachmentsAt(offset));
    const tierByName = tiers.flatMap((names, tier) => names.map((name) => [name, tier] as const));
    this.#open.push({ offset, group, tiers, tierOf: new Map([...tierByName, [group, -1]]) });
    return tiers.flat().flatMap((name) => this.#groups.get(name)?.detach(offset, proposal, name) ?? []);
  }

  forgetAll(): void {
    this.#open = [];
  }

  /** Applies all deletions again, once no record can be missing. */
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

  /** Lists entries whose states must precede this one's. */
  before(name: string): string[] {
    if (this.#open.length === 0) return [];
    this.#open = this.#open.filter(({ group, offset }) => !this.#isContained(group, offset));
    return this.#open.flatMap(({ offset, tiers, tierOf }) => {
      const behind = tiers.slice((tierOf.get(name) ?? tiers.length) + 1).flat();
      return behind.filter((other) => !this.#isContained(other, offset));
    });
  }

  /** Tests if a state contains the deletion; a missing entry counts as contained. */
  #isContained(name: string, offset: number): boolean {
    return this.#groups.get(name)?.contains(offset) ?? true;
  }

  /** Yields names with definitions, except entries with a newer state. */
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
  // An entry is the same as at most one other: each is found once, and no circle is entered.
  let tier = attached;
  while (tier.length > 0) {
    tiers.push(tier);
    tier = tier.flatMap((name) => same.get(name) ?? []);
  }
  return tiers;
}
