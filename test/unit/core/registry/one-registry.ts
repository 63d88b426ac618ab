import { expect } from 'vitest';
import { Registry } from '../../../../src/core/beside/registry/registry.js';
import type {
  ReadRegistryRecord,
  RegistryAppend,
  RegistryEffects,
  RegistryEvent,
} from '../../../../src/core/beside/registry/registry-protocol.js';
import {
  type GroupDefinition,
  keyOf,
  type ProposalRecord,
  type RegistryRecord,
} from '../../../../src/core/beside/registry/registry-record.js';

export const ADOPT_AFTER_MS = 10_000;
export const DEFINITION: GroupDefinition = { quota: 1 };

/** Where offsets begin on a Redis; lasting ones and revisions begin at 0 wherever that is. */
export const FIRST_OFFSET = 1_700_000_000 * 2 ** 20;

/** A registry and the log that it reads; what it appends gets there when the test says so. */
export class OneRegistry {
  readonly registry: Registry;
  readonly log: ReadRegistryRecord[] = [];
  readonly decisions: RegistryEffects['decisions'][number][] = [];
  /** No clock of a node begins with 0. */
  nowMs = 1e9;
  #sent: RegistryAppend[] = [];

  constructor(nodeId = 'own', auditedChanges = 100) {
    const settings = { nodeId, cluster: 1, lifeId: `${nodeId}-1`, adoptAfterMs: ADOPT_AFTER_MS, auditedChanges };
    this.registry = new Registry(settings);
    this.step({ kind: 'epoch-began', epoch: 'log' });
    this.write(BEGINNING);
  }

  /** Another log takes the place of this one; all that it has is read. */
  replaceLog(): void {
    this.log.splice(0);
    this.step({ kind: 'epoch-began', epoch: 'another' });
    this.step({ kind: 'caught-up' });
  }

  /** One that has read all that there is, its own barrier included. */
  static ready(nodeId?: string, auditedChanges?: number): OneRegistry {
    const one = new OneRegistry(nodeId, auditedChanges);
    one.step({ kind: 'caught-up' });
    one.deliver();
    expect(one.registry.isReady).toBe(true);
    return one;
  }

  step(event: RegistryEvent): RegistryEffects {
    const effects = this.registry.step(event, this.nowMs);
    // Nothing is ever appended that has no records.
    for (const { records } of effects.appends) expect(records).not.toEqual([]);
    this.#sent.push(...effects.appends);
    this.decisions.push(...effects.decisions);
    return effects;
  }

  propose(
    id: string,
    expected: number | null,
    definition: GroupDefinition | null = DEFINITION,
    group = 'orders',
  ): RegistryEffects {
    return this.step({ kind: 'proposed', id, group, expected, definition, by: null });
  }

  /** What it wants to append, in order; it has not been appended then. */
  take(): RegistryAppend[] {
    return this.#sent.splice(0);
  }

  /** All of it is appended and read back, until there is nothing more. */
  deliver(): void {
    for (let sent = this.take(); sent.length > 0; sent = this.take()) {
      for (const append of sent) this.append(append);
      for (const { ticket } of sent) this.step({ kind: 'appended', ticket });
    }
  }

  append({ records }: Pick<RegistryAppend, 'records'>): RegistryEffects {
    return this.read(...records.map(({ key, record }) => ({ key, record })));
  }

  /** Somebody else writes; `skipped` = offsets that compaction has left out. */
  write(record: RegistryRecord, skipped = 0): RegistryEffects {
    return this.read({ key: keyOf(this.registry.keys, record), record, skipped });
  }

  read(
    ...records: readonly (Pick<ReadRegistryRecord, 'key' | 'record' | 'isToRenew'> & { readonly skipped?: number })[]
  ): RegistryEffects {
    const read = records.map(({ skipped = 0, ...each }) => {
      const one = {
        offset: (this.log.at(-1)?.offset ?? FIRST_OFFSET - 1) + 1 + skipped,
        appendMs: this.nowMs,
        ...each,
      };
      this.log.push(one);
      return one;
    });
    return this.step({ kind: 'records-read', records: read });
  }

  /** Seconds pass; nothing of what it wants is appended meanwhile. */
  wait(ms: number): void {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) {
      this.nowMs += Math.min(1000, endMs - this.nowMs);
      this.step({ kind: 'tick' });
    }
  }

  /** Lasting offset after the last record read. */
  get lastingOffset(): number | null {
    return this.registry.epochs.lastingOffsetOf(this.registry.offset);
  }

  /** What a state says that contains all of it. */
  get readUpTo(): { asOf: number; shift: number } {
    return { asOf: this.lastingOffset ?? 0, shift: this.registry.epochs.shift };
  }

  /** What stands in the log of one kind, in its order. */
  logged<Kind extends RegistryRecord['kind']>(kind: Kind): Extract<RegistryRecord, { kind: Kind }>[] {
    return this.log.flatMap(({ record }) => (record?.kind === kind ? [record as never] : []));
  }

  /** Kinds of records that it wants to append now. */
  get wants(): string[] {
    return this.#sent.flatMap(({ records }) => records.map(({ record }) => record?.kind ?? 'tombstone'));
  }
}

/** What nodes write ahead of everything else. */
const BEGINNING = { kind: 'epoch', author: 'other', id: 'beginning', base: 0 } as const;

export function proposalOf(author: string, id: string, expected: number | null): ProposalRecord {
  return { kind: 'proposal', id, author, group: 'orders', expected, definition: DEFINITION, by: null };
}
