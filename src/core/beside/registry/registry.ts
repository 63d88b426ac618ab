import { LogTime } from '../../log/log-time.js';
import { PART_BYTES } from '../constants.js';
import { BatchedChanges, type JudgedBatch } from './batched-changes.js';
import { Checkpoints, patienceOf } from './checkpoints.js';
import { GroupHistory, type GroupState } from './group-history.js';
import { RegistryEpochs } from './registry-epochs.js';
import {
  createRegistryEffects,
  type ReadRegistryRecord,
  type RegistryEffects,
  type RegistryEvent,
  type RegistrySettings,
} from './registry-protocol.js';
import {
  type AuditRecord,
  type BatchEntry,
  type BatchRecord,
  keyOf,
  type ProposalRecord,
  type RegistryKeys,
  type RegistryRecord,
  registryKeys,
  type StateRecord,
} from './registry-record.js';
import { Releases } from './releases.js';
import { Trail } from './trail.js';

/**
 * Keeps the groups of run time by one ordered, compacted log: event + now → effects. A proposal's offset decides, for
 * every reader alike (group-history.ts): compare-and-set without a leader. Its node appends the whole state, and only
 * then reports the change done (checkpoints.ts). Nodes that have read equally far hold the same groups, compacted or
 * not.
 */
export class Registry {
  /** True once the start of the log was read without a hole. */
  isReady = false;
  /** Number of impossible records, and of foreign keys. */
  ignored = 0;
  readonly keys: RegistryKeys;
  readonly trail: Trail;
  /** Present log, and states of earlier ones. */
  readonly epochs = new RegistryEpochs();
  readonly #settings: RegistrySettings;
  readonly #groups = new Map<string, GroupHistory>();
  /** Key → group, for tombstones. */
  readonly #groupOfKey = new Map<string, string>();
  readonly #releases = new Releases(this.#groups);
  readonly #batches: BatchedChanges;
  readonly #checkpoints: Checkpoints;
  #nextOffset = 0;
  readonly #logTime = new LogTime(Infinity);
  #isCaughtUp = false;
  /** True = no compacted record can be missing. False at the start, and after each hole. */
  #isWhole = false;
  #holes = 0;
  /** Own proposals read after a hole, until they are judged. */
  #unjudged: OwnProposal[] = [];
  /** Ids of own batches, likewise. */
  #unjudgedBatches: string[] = [];
  /** Hole of the last barrier. */
  #raised = -1;
  #epochsWritten = 0;
  #effects: RegistryEffects = createRegistryEffects();

  constructor(settings: RegistrySettings) {
    this.#settings = settings;
    this.keys = registryKeys(settings.cluster);
    this.trail = new Trail(settings.auditedChanges);
    const patienceMs = patienceOf(settings);
    this.#batches = new BatchedChanges({ nodeId: settings.nodeId, keys: this.keys, groups: this.#groups, patienceMs });
    this.#checkpoints = new Checkpoints(settings, this.keys, {
      groups: this.#groups,
      stateOf: (group) => this.stateOf(group),
      releases: this.#releases,
      batches: this.#batches,
      trail: this.trail,
    });
  }

  /** @param nowMs the node's monotonic clock */
  step(event: RegistryEvent, nowMs: number): RegistryEffects {
    this.#effects = createRegistryEffects();
    switch (event.kind) {
      case 'records-read':
        for (const read of event.records) this.#read(read, nowMs);
        break;
      case 'epoch-began':
        this.#beginEpoch(event.epoch, nowMs);
        break;
      case 'caught-up':
        this.#isCaughtUp = true;
        break;
      case 'proposed': {
        const { id, group, expected, definition, detaching, by } = event;
        const proposed = { id, author: this.#settings.nodeId, group, expected, definition, by };
        this.#append([{ kind: 'proposal', ...proposed, ...(detaching && { detaching }) }]);
        break;
      }
      case 'batch-proposed':
        this.#append(batchOf(event, this.#settings.nodeId));
        break;
      case 'appended':
        this.#checkpoints.appended(event.ticket, this.#effects, nowMs);
        break;
      case 'append-failed':
        this.#checkpoints.failed(event.ticket);
        break;
      case 'tick':
        if (this.#isWhole) {
          this.#checkpoints.adopt(this.#effects, nowMs, this.#logTime.ms);
          // The append that was to write them back may have failed.
          this.#writeBack();
        } else this.#raised = -1;
        break;
    }
    if (this.#isWhole) this.#checkpoints.write(this.#effects, this.#readUpTo);
    else if (this.#isCaughtUp && this.#raised < this.#holes) this.#raiseBarrier();
    return this.#effects;
  }

  /** Returns a group's newest state in this and earlier logs. */
  stateOf(group: string): GroupState {
    return this.epochs.stateOf(group, this.#groups);
  }

  names(): Iterable<string> {
    return this.epochs.names(this.#groups);
  }

  /** Offset after the last record read. */
  get offset(): number {
    return this.#nextOffset;
  }

  /** Lasting offset below which all records are read. */
  get #readUpTo(): Pick<StateRecord, 'asOf' | 'shift'> {
    return { asOf: this.epochs.lastingOffsetOf(this.#nextOffset) ?? 0, shift: this.epochs.shift };
  }

  /** Begins another log; the old one's states hold until it has them. */
  #beginEpoch(name: string, nowMs: number): void {
    if (!this.epochs.begin(name, this.#groups, this.#nextOffset)) return;
    this.#groups.clear();
    this.#groupOfKey.clear();
    this.#releases.forgetAll();
    this.#batches.forgetAll();
    this.#checkpoints.beginEpoch();
    this.trail.sayAgain(nowMs);
    this.#nextOffset = 0;
    this.#logTime.startAgain();
    this.#isCaughtUp = false;
    this.#unjudged = [];
    this.#unjudgedBatches = [];
    this.#missed();
    this.#append(this.#epochRecords());
  }

  #read(read: ReadRegistryRecord, nowMs: number): void {
    const { offset: at, key, record } = read;
    if (at < this.#nextOffset) return;
    if (at > this.#nextOffset && this.#isCaughtUp) this.#missed();
    this.#nextOffset = at + 1;
    if (record !== null && record.kind !== 'unreadable' && keyOf(this.keys, record) === key)
      this.epochs.read(record, at);
    this.#logTime.advanceTo(read.appendMs);
    if (record?.kind === 'unreadable') return;
    const lastingOffset = this.epochs.lastingOffsetOf(at);
    if (record === null) this.#readTombstone(key);
    else if (keyOf(this.keys, record) !== key) this.ignored++;
    else if (record.kind === 'yaml') return;
    else if (record.kind === 'epoch') {
      const isOwn = record.author === this.#settings.nodeId;
      if (read.isToRenew && isOwn) this.#append([{ ...record, at: record.at ?? at }]);
    } else if (record.kind === 'barrier') this.#readBarrier(record.id, nowMs);
    else if (lastingOffset === null) this.ignored++;
    else this.#readAt({ ...read, offset: lastingOffset }, record, nowMs);
  }

  /** Reads a record. @param read carries its lasting offset (registry-epochs.ts) */
  #readAt(read: ReadRegistryRecord, record: RecordAtOffset, nowMs: number): void {
    const { offset } = read;
    const { ms: logMs } = this.#logTime;
    if (record.kind === 'audit') this.#readAudit(record, read, nowMs);
    else if (record.kind === 'batch-part') this.#batches.readPart(record, { ...read, logMs, nowMs });
    else if (record.kind === 'verdict') this.#batches.readVerdict(record, { ...read, logMs, nowMs });
    else if (record.kind === 'batch') this.#readBatch(record, read, nowMs);
    else if (record.kind === 'state' && record.asOf > offset) this.ignored++;
    else this.#readGroup(read, record, nowMs);
  }

  /** Notes a hole: records may be missing whose state stands later in the log. */
  #missed(): void {
    this.#isWhole = false;
    this.#holes++;
  }

  #readBarrier(id: string, nowMs: number): void {
    if (id !== this.#barrierId || this.#isWhole) return;
    this.isReady = true;
    this.#isWhole = true;
    const revisions = new Map([...this.#groups].map(([name, { current }]) => [name, current.revision]));
    this.#batches.judgeAgain();
    this.#releases.applyAgain();
    const changes = new Map<number, AuditRecord[]>();
    for (const [name, history] of this.#groups) {
      // Only now are the entries known that a deletion has detached.
      if (history.current.revision !== revisions.get(name)) this.#hasChanged(name, history);
      for (const change of history.changes()) {
        this.trail.expect(change, nowMs);
        changes.set(change.revision, [...(changes.get(change.revision) ?? []), change]);
      }
    }
    for (const proposal of this.#unjudged.splice(0)) {
      const history = this.#groups.get(proposal.group);
      // A proposal inside a state has no known fate: its caller gets "unconfirmed".
      if (history === undefined || proposal.offset < history.asOf) continue;
      this.#answer(proposal, changes.get(proposal.offset + 1) ?? [], history.current);
    }
    for (const id of this.#unjudgedBatches.splice(0)) {
      const judged = this.#batches.find(id);
      if (judged !== null) this.#answerBatch(judged);
    }
    this.#writeBack();
    this.#checkpoints.bury([this.keys.barrier(this.#settings.nodeId)], this.#effects);
  }

  /** Writes back states of earlier logs that this one lacks. */
  #writeBack(): void {
    for (const group of this.epochs.lacking.keys()) this.#checkpoints.want(group);
  }

  get #barrierId(): string {
    return `${this.#settings.lifeId}/${this.#holes}`;
  }

  #readAudit(record: AuditRecord, { offset, isToRenew }: ReadRegistryRecord, nowMs: number): void {
    if (record.revision > offset) this.ignored++;
    else this.trail.keep(record, nowMs, isToRenew);
  }

  #readGroup(read: ReadRegistryRecord, record: ProposalRecord | StateRecord, nowMs: number): void {
    const { offset, key, isToRenew = false } = read;
    const { ms: logMs } = this.#logTime;
    const history = this.#groups.get(record.group) ?? new GroupHistory();
    this.#groups.set(record.group, history);
    const before = history.current;
    const isState = record.kind === 'state';
    const asOf = isState ? record.asOf : offset;
    const revision = isState ? record.revision : 0;
    const { author } = record;
    history.keys.set(key, { offset, logMs, readMs: nowMs, author, asOf, isState, revision, isToRenew });
    this.#groupOfKey.set(key, record.group);
    if (isState) history.adopt(record);
    else this.#judge(record, { offset, nowMs }, history);
    this.#checkpoints.seen(record.group, history);
    this.epochs.said(record.group, history.current);
    if (history.current !== before && history.current.revision !== before.revision) {
      this.#effects.changed.add(record.group);
    }
  }

  #readBatch(record: BatchRecord, read: ReadRegistryRecord, nowMs: number): void {
    const judged = this.#batches.read(record, { ...read, logMs: this.#logTime.ms, nowMs }, this.#isWhole);
    for (const change of judged.changes) {
      const history = this.#groups.get(change.group) as GroupHistory;
      this.#hasChanged(change.group, history);
      this.epochs.said(change.group, history.current);
      if (this.#isWhole) this.trail.expect(change, nowMs);
    }
    if (record.author !== this.#settings.nodeId || !this.isReady) return;
    if (judged.isFinal) this.#answerBatch(judged);
    else this.#unjudgedBatches.push(record.id);
  }

  #answerBatch({ id, offset, isAccepted, changes, late }: JudgedBatch): void {
    const decision = { id, accepted: isAccepted, revision: offset + 1, changes, late };
    if (isAccepted) {
      this.#checkpoints.holdBatch(decision, offset);
      return;
    }
    this.#effects.batchDecisions.push(decision);
    this.#checkpoints.bury(this.#batches.rejected(id), this.#effects);
  }

  /** Notes an entry that another record than its own has changed. */
  #hasChanged(name: string, history: GroupHistory | undefined): void {
    if (history === undefined) return;
    this.#effects.changed.add(name);
    this.#checkpoints.seen(name, history);
  }

  #judge(proposal: ProposalRecord, { offset, nowMs }: { offset: number; nowMs: number }, history: GroupHistory): void {
    const { id, group, author } = proposal;
    const change = history.propose(offset, proposal);
    const changes = change === null ? [] : [change];
    if (change !== null && proposal.detaching) changes.push(...this.#releases.apply(offset, proposal));
    for (const made of changes) {
      if (this.#isWhole) this.trail.expect(made, nowMs);
      if (made !== change) this.#hasChanged(made.group, this.#groups.get(made.group));
    }
    // Ids of nodes are not unique; only the waiting process gets the answer.
    if (author !== this.#settings.nodeId || !this.isReady) return;
    if (this.#isWhole) this.#answer({ id, group, offset }, changes, history.current);
    else this.#unjudged.push({ id, group, offset });
  }

  /** Answers with `changes` of the group and its detached entries; none = rejected. */
  #answer({ id, group, offset }: OwnProposal, changes: readonly AuditRecord[], state: GroupState): void {
    const change = changes.find(({ withGroup }) => withGroup === undefined) ?? null;
    const detached = changes.filter(({ withGroup }) => withGroup !== undefined);
    if (change !== null) {
      const made = { revision: change.revision, definition: change.after };
      this.#checkpoints.hold({ id, group, accepted: true, change, detached, state: made }, offset);
      return;
    }
    // A rejected proposal changes nothing, so it may go at once.
    this.#effects.decisions.push({ id, group, accepted: false, change, detached, state });
    this.#checkpoints.bury([this.keys.proposal(id)], this.#effects);
  }

  #readTombstone(key: string): void {
    const asOf = this.keys.auditedBy(key);
    if (asOf !== null) this.trail.freed(asOf);
    for (const group of this.#batches.buried(key)) this.#checkpoints.want(group);
    const group = this.#groupOfKey.get(key);
    const history = group === undefined ? undefined : this.#groups.get(group);
    if (group === undefined || history === undefined) return;
    const buried = history.keys.get(key);
    history.keys.delete(key);
    this.#groupOfKey.delete(key);
    if (buried !== undefined && history.isMissed(buried)) this.#checkpoints.want(group);
    else if (history.keys.size === 0 && history.current.definition === null) this.#groups.delete(group);
    this.#checkpoints.seen(group, history);
  }

  #raiseBarrier(): void {
    this.#raised = this.#holes;
    const { nodeId: author } = this.#settings;
    this.#append([...this.#epochRecords(), { kind: 'barrier', author, id: this.#barrierId }]);
  }

  /** Returns the record with the log's base, if it is missing. It precedes all others of this node. */
  #epochRecords(): RegistryRecord[] {
    const base = this.epochs.unwritten;
    if (base === null) return [];
    const { nodeId: author, lifeId } = this.#settings;
    return [{ kind: 'epoch', author, id: `${lifeId}/${++this.#epochsWritten}`, base }];
  }

  #append(records: readonly RegistryRecord[]): void {
    const keyed = records.map((record) => ({ key: keyOf(this.keys, record), record }));
    this.#effects.appends.push({ ticket: this.#checkpoints.nextTicket(), records: keyed });
  }
}

/** Returns a batch as one record, after the parts that exceed it. */
function batchOf({ id, entries, by }: ProposedBatch, author: string): RegistryRecord[] {
  const parts = partsOf(entries);
  const last = parts.pop() ?? [];
  const records = parts.map((cut, part) => ({ kind: 'batch-part', id, author, part, entries: cut }) as const);
  return [...records, { kind: 'batch', id, author, parts: parts.length, entries: last, by }];
}

/** Records that their offset gives a meaning. */
type RecordAtOffset = Exclude<RegistryRecord, { readonly kind: 'yaml' | 'epoch' | 'barrier' }>;

type ProposedBatch = Extract<RegistryEvent, { kind: 'batch-proposed' }>;

/** Cuts a batch into parts that fit into records. Each part has at least one group. */
function partsOf(entries: readonly BatchEntry[]): BatchEntry[][] {
  const parts: BatchEntry[][] = [];
  let left = 0;
  for (const entry of entries) {
    // At most three bytes per UTF-16 unit, escapes included.
    // A larger definition (codec/registry-codec.ts) is a part of its own.
    const bytes = 3 * JSON.stringify(entry).length;
    if (bytes > left || parts.length === 0) {
      parts.push([]);
      left = PART_BYTES;
    }
    parts.at(-1)?.push(entry);
    left -= bytes;
  }
  return parts;
}

interface OwnProposal {
  readonly id: string;
  readonly group: string;
  readonly offset: number;
}
