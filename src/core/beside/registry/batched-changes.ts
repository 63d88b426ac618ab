import { STRAY_MS } from '../constants.js';
import { GroupHistory, isExpected, NEVER } from './group-history.js';
import type {
  AuditRecord,
  BatchEntry,
  BatchPartRecord,
  BatchRecord,
  RegistryKeys,
  VerdictRecord,
} from './registry-record.js';

/**
 * Judges changes of many groups, all or none. A batch is one record, whose offset decides; parts that exceed it stand
 * before it.
 *
 * - It is accepted if every group has its expected revision at that offset; then all get revision offset + 1.
 * - It is void if one of its parts is missing.
 * - A *verdict* stands in the log before any state that contains the batch, because compaction may take earlier
 *   revisions away from a later reader. Without a verdict, all records that decide are still there.
 * - Batch, parts and verdict are freed when all groups' states contain the batch.
 *
 * *Worked:* at 9, gold (expects 4) and new (expects 0) → both have revision 10, if gold had 4 and new did not exist.
 */
export class BatchedChanges {
  readonly #parts: BatchedChangesParts;
  readonly #batches = new Map<string, Batch>();
  /** Key → id, for tombstones. */
  readonly #idOfKey = new Map<string, string>();

  constructor(parts: BatchedChangesParts) {
    this.#parts = parts;
  }

  readPart({ id, part, entries }: BatchPartRecord, read: ReadAt): void {
    const batch = this.#seen(id, read);
    // A part behind its batch is too late for every reader alike.
    if (batch.made === null) batch.parts.set(part, entries);
  }

  readVerdict({ id, isAccepted }: VerdictRecord, read: ReadAt): void {
    const batch = this.#seen(id, read);
    batch.isDeclared = true;
    batch.verdict = isAccepted;
  }

  /** Judges a batch by the present groups; unless `isFinal`, `judgeAgain` decides. */
  read(record: BatchRecord, read: ReadAt, isFinal: boolean): JudgedBatch {
    const batch = this.#seen(record.id, read);
    const parts = Array.from({ length: record.parts }, (_, part) => batch.parts.get(part));
    const isComplete = parts.every((part) => part !== undefined);
    const entries = isComplete ? [...parts.flatMap((part) => part ?? []), ...record.entries] : [];
    batch.parts.clear();
    batch.made = { offset: read.offset, record };
    batch.entries = new Map(entries.map((entry) => [entry.group, entry]));
    batch.late = entries.filter(({ group, expected }) => !isExpected(this.#currentOf(group), expected));
    batch.isAccepted = isComplete && batch.late.length === 0;
    batch.isFinal = isFinal;
    return this.#judged(batch, batch.isAccepted ? this.#include(batch) : []);
  }

  /** Judges earlier batches in log order, once no record can be missing. */
  judgeAgain(): void {
    for (const history of this.#parts.groups.values()) history.forgetBatches();
    for (const batch of this.#inOrder()) {
      // Its tombstone shows that states contain the batch, or that it was rejected.
      if (!batch.keys.has(this.#parts.keys.proposal(batch.id))) this.#retire(batch);
      else this.#judgeLate(batch);
    }
  }

  /** Finds a batch; null = states contain it, and its fate is unknown. */
  find(id: string): JudgedBatch | null {
    const batch = this.#batches.get(id);
    if (batch === undefined || batch.made === null) return null;
    const { offset } = batch.made;
    const histories = [...batch.entries.keys()].map((group) => this.#parts.groups.get(group));
    if (histories.some((history) => history !== undefined && history.at(offset) === null)) return null;
    const changes = histories.flatMap((history) => [...(history?.changes() ?? [])]);
    return this.#judged(
      batch,
      changes.filter(({ revision }) => revision === offset + 1),
    );
  }

  /** Lists verdicts that must precede states of these groups. */
  undeclared(groups: ReadonlySet<string>): VerdictRecord[] {
    const verdicts: VerdictRecord[] = [];
    for (const batch of this.#batches.values()) {
      const { id, entries, isAccepted, isDeclared, made } = batch;
      if (made === null || isDeclared || ![...groups].some((group) => entries.has(group))) continue;
      verdicts.push({ kind: 'verdict', id, author: this.#parts.nodeId, isAccepted });
    }
    return verdicts;
  }

  /** Notes verdicts and states in the log; returns keys that may be freed. */
  written(verdicts: readonly VerdictRecord[], groups: ReadonlySet<string>): string[] {
    for (const { id } of verdicts) {
      const batch = this.#batches.get(id);
      if (batch !== undefined) batch.isDeclared = true;
    }
    return [...this.#batches.values()].flatMap((batch) => {
      if (batch.pending.size === 0) return [];
      for (const group of groups) this.#settle(batch, group);
      return batch.pending.size === 0 && batch.made?.record.author === this.#parts.nodeId ? this.#keysOf(batch) : [];
    });
  }

  /** Lists keys of a rejected batch, which its author frees at once. */
  rejected(id: string): string[] {
    const batch = this.#batches.get(id);
    return batch === undefined ? [] : this.#keysOf(batch);
  }

  /** Takes overdue work of other nodes: groups for states, and keys to free. */
  takeOverdue(nowMs: number, logMs: number): { readonly groups: string[]; readonly keys: string[] } {
    const overdue = { groups: [] as string[], keys: [] as string[] };
    for (const batch of this.#batches.values()) {
      const isStray = batch.parts.size > 0;
      const isOld = isStray ? logMs - batch.logMs > STRAY_MS : nowMs - batch.sinceMs > this.#parts.patienceMs;
      if (!isOld) continue;
      batch.sinceMs = nowMs;
      for (const group of batch.pending) this.#settle(batch, group);
      if (batch.pending.size === 0) overdue.keys.push(...this.#keysOf(batch));
      else for (const group of batch.pending) overdue.groups.push(group);
    }
    return overdue;
  }

  /** Notes a key that left the log. Returns the groups to write again, if it was freed by mistake. */
  buried(key: string): Iterable<string> {
    const id = this.#idOfKey.get(key);
    const batch = id === undefined ? undefined : this.#batches.get(id);
    if (batch === undefined) return [];
    this.#idOfKey.delete(key);
    batch.keys.delete(key);
    for (const part of batch.parts.keys())
      if (this.#parts.keys.batchPart(batch.id, part) === key) batch.parts.delete(part);
    for (const group of batch.pending) this.#settle(batch, group);
    if (batch.keys.size === 0 && batch.pending.size === 0) this.#batches.delete(batch.id);
    return batch.pending;
  }

  forgetAll(): void {
    this.#batches.clear();
    this.#idOfKey.clear();
  }

  #seen(id: string, { key, nowMs, logMs }: ReadAt): Batch {
    const batch = this.#batches.get(id) ?? newBatch(id, nowMs);
    this.#batches.set(id, batch);
    this.#idOfKey.set(key, id);
    batch.keys.add(key);
    batch.logMs = logMs;
    return batch;
  }

  #judgeLate(batch: Batch): void {
    const { offset } = batch.made as Made;
    if (!batch.isFinal) {
      const isSo = ({ group, expected }: BatchEntry) => {
        const history = this.#parts.groups.get(group);
        const state = history === undefined ? NEVER : history.at(offset);
        return state === null || isExpected(state, expected);
      };
      batch.late = [...batch.entries.values()].filter((entry) => !isSo(entry));
      batch.isAccepted = batch.entries.size > 0 && (batch.verdict ?? batch.late.length === 0);
      batch.isFinal = true;
    }
    batch.pending.clear();
    if (batch.isAccepted) this.#include(batch);
  }

  #include(batch: Batch): AuditRecord[] {
    const { offset, record } = batch.made as Made;
    const changes: AuditRecord[] = [];
    for (const entry of batch.entries.values()) {
      const history = this.#parts.groups.get(entry.group) ?? new GroupHistory();
      this.#parts.groups.set(entry.group, history);
      const change = history.include(offset, record, entry);
      if (change !== null) changes.push(change);
      if (!history.contains(offset)) batch.pending.add(entry.group);
    }
    return changes;
  }

  #settle(batch: Batch, group: string): void {
    if (batch.made !== null && this.#parts.groups.get(group)?.contains(batch.made.offset)) batch.pending.delete(group);
  }

  #judged({ id, isAccepted, isFinal, late, made }: Batch, changes: readonly AuditRecord[]): JudgedBatch {
    const { offset } = made as Made;
    const lateNow = late.map(({ group }) => ({ group, revision: this.#currentOf(group).revision }));
    return { id, offset, isAccepted, isFinal, changes, late: lateNow };
  }

  #currentOf(group: string) {
    return this.#parts.groups.get(group)?.current ?? NEVER;
  }

  #inOrder(): Batch[] {
    const made = [...this.#batches.values()].filter((batch) => batch.made !== null);
    return made.sort((one, other) => (one.made as Made).offset - (other.made as Made).offset);
  }

  /** Lists a batch's keys, its own record first: the rest means nothing without it. */
  #keysOf({ id, keys, isDeclared }: Batch): string[] {
    const own = this.#parts.keys.proposal(id);
    const verdict = this.#parts.keys.verdict(id);
    const others = [...keys].filter((key) => key !== own && key !== verdict);
    return [...(keys.has(own) ? [own] : []), ...others, ...(isDeclared ? [verdict] : [])];
  }

  /** Drops a batch except its keys in the log. `takeOverdue` frees them. */
  #retire(batch: Batch): void {
    batch.made = null;
    batch.entries = new Map();
    batch.pending.clear();
    if (batch.keys.size === 0) this.#batches.delete(batch.id);
  }
}

export interface JudgedBatch {
  readonly id: string;
  readonly offset: number;
  readonly isAccepted: boolean;
  readonly isFinal: boolean;
  readonly changes: readonly AuditRecord[];
  /** Groups with other revisions; none = a part is missing. */
  readonly late: readonly LateGroup[];
}

export interface LateGroup {
  readonly group: string;
  readonly revision: number;
}

interface BatchedChangesParts {
  readonly nodeId: string;
  readonly keys: RegistryKeys;
  readonly groups: Map<string, GroupHistory>;
  /** Milliseconds after which other nodes' work is finished here. */
  readonly patienceMs: number;
}

interface ReadAt {
  readonly offset: number;
  readonly logMs: number;
  readonly key: string;
  readonly nowMs: number;
}

interface Made {
  readonly offset: number;
  readonly record: BatchRecord;
}

interface Batch {
  readonly id: string;
  /** Entries by part, until the batch itself is read. */
  readonly parts: Map<number, readonly BatchEntry[]>;
  /** Keys of the batch that were read in the log. */
  readonly keys: Set<string>;
  made: Made | null;
  entries: ReadonlyMap<string, BatchEntry>;
  late: readonly BatchEntry[];
  isAccepted: boolean;
  isFinal: boolean;
  /** Null = none was read. */
  verdict: boolean | null;
  isDeclared: boolean;
  /** Groups whose states lack an accepted batch. */
  readonly pending: Set<string>;
  /** Local time of the last look. */
  sinceMs: number;
  /** Log time of its newest record. */
  logMs: number;
}

function newBatch(id: string, nowMs: number): Batch {
  const nothing = { made: null, entries: new Map(), late: [], isAccepted: false, isFinal: false };
  const collected = { parts: new Map(), keys: new Set<string>(), pending: new Set<string>() };
  return { id, ...nothing, ...collected, verdict: null, isDeclared: false, sinceMs: nowMs, logMs: 0 };
}
