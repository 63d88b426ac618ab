import { randomUUID } from 'node:crypto';
import { messageOf, QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import type { AppendRecord, ReadRecord, ReportTopic } from '../../../base/ports/report-topic.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import { examineGroup } from '../../../config/read/group-definition.js';
import type { RegistryConfig } from '../../../config/resolved/resolved-config.js';
import { clusterHashOf } from '../../../core/base/ids.js';
import type { Attachments } from '../../../core/beside/attachments/attachments.js';
import type { GroupState } from '../../../core/beside/registry/group-history.js';
import { Registry } from '../../../core/beside/registry/registry.js';
import type {
  BatchDecision,
  ChangeDecision,
  ReadRegistryRecord,
  RegistryAppend,
  RegistryEvent,
} from '../../../core/beside/registry/registry-protocol.js';
import {
  type AuditRecord,
  type BatchEntry,
  type ChangedBy,
  entryOf,
  type GroupDefinition,
} from '../../../core/beside/registry/registry-record.js';
import { RegistryCodec } from '../../../topic/codec/registry-codec.js';
import { TopicInbox } from '../../../topic/topic-inbox.js';
import type { RegistryChange } from '../../api/quota-groups.js';
import { applyAttachment } from '../apply-attachment.js';
import type { GroupTable } from '../group-table.js';
import type { GroupsInForce } from '../groups-in-force.js';
import type { KeyTemplates } from '../keys/key-templates.js';
import type { YamlComparison } from '../yaml/yaml-comparison.js';
import type { YamlGroups } from '../yaml/yaml-groups.js';
import { logBatch, logChange } from './audit-trail.js';

const TICK_MS = 1000;
const ADOPT_AFTER_MS = 10_000;
/** Milliseconds from a call to its decision; an append alone may take `topic.appendTimeoutMs`. */
const DECISION_TIMEOUT_MS = 15_000;
/** Records per turn of the event loop; a group takes about 50 µs. */
const RECORDS_PER_TURN = 200;
/** Unusable definitions tried again per second; more takes longer per turn. */
const RETRIED_PER_TICK = 20;

interface GroupRegistryParts {
  readonly cluster: string;
  readonly nodeId: string;
  readonly settings: RegistryConfig;
  readonly topic: ReportTopic;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly groups: GroupTable;
  readonly inForce: GroupsInForce;
  readonly yaml: YamlGroups;
  readonly comparison: YamlComparison;
  readonly attachments: Attachments;
  readonly templates: KeyTemplates;
  /** NOT_READY with the present reasons. */
  readonly notReady: () => QuotameshError;
}

interface WaitingChange {
  decide(decision: ChangeDecision | BatchDecision): void;
  giveUp(reason: string): void;
}

/**
 * Connects the registry's topic, its machine, and this node's groups. The machine is in the core. A group of run time
 * replaces YAML's as a whole; its deletion brings YAML's back.
 */
export class GroupRegistry {
  readonly topic: ReportTopic;
  /** Groups with unusable definitions → reason; the one before stays in force. */
  readonly refused = new Map<string, string>();
  /** Changes requested here, by outcome. */
  readonly changes = { made: 0, late: 0, invalid: 0, unconfirmed: 0, 'too-fast': 0 };
  /** Newest applied revision. */
  revision = 0;
  /** Groups whose YAML differs between nodes. */
  readonly comparison: YamlComparison;
  readonly #parts: GroupRegistryParts;
  readonly #telemetry: Telemetry;
  readonly #inbox: TopicInbox;
  readonly #codec: RegistryCodec;
  readonly #registry: Registry;
  readonly #waiting = new Map<string, WaitingChange>();
  /** Waiting change → why its proposal may not be in the log. */
  readonly #unwritten = new Map<string, string>();
  /** Changed groups to apply once all is read. */
  #changed = new Set<string>();
  readonly #watchers = new Set<(change: RegistryChange) => void>();
  #timer: NodeJS.Timeout | null = null;
  #closed = false;
  #undecodable = 0;
  #isProbing = false;
  #ready: () => void = () => undefined;

  constructor(parts: GroupRegistryParts) {
    const { cluster, nodeId, settings, topic, telemetry } = parts;
    this.#parts = parts;
    this.topic = topic;
    this.comparison = parts.comparison;
    this.#telemetry = telemetry;
    this.#inbox = new TopicInbox({
      name: 'registry topic',
      lossMeans: ': groups stay as they are',
      recordsPerTurn: RECORDS_PER_TURN,
      telemetry,
      onEpoch: (epoch) => this.#beginEpoch(epoch),
      onRead: (records) => this.#step({ kind: 'records-read', records: records.map((read) => this.#decode(read)) }),
      onCaughtUp: () => this.#step({ kind: 'caught-up' }),
    });
    this.#codec = new RegistryCodec(cluster);
    this.#registry = new Registry({
      nodeId,
      cluster: clusterHashOf(cluster),
      lifeId: randomUUID(),
      adoptAfterMs: ADOPT_AFTER_MS,
      auditedChanges: settings.auditedChanges,
    });
  }

  /** Reason; null = the topic works. */
  get lost(): string | null {
    return this.#inbox.lost;
  }

  get epoch(): { readonly name: string | null; readonly changes: number } {
    return this.#registry.epochs;
  }

  /** Entries that an earlier log had and this one lacks. */
  get lacking(): number {
    return this.#registry.epochs.lacking.size;
  }

  get isReady(): boolean {
    return this.#registry.isReady;
  }

  /** Records that mean nothing here, or are impossible. */
  get ignored(): number {
    return this.#undecodable + this.#registry.ignored + this.comparison.ignored;
  }

  /** Offset behind the last record read. */
  get offset(): number {
    return this.#registry.offset;
  }

  /** Resolves when every group of the registry is known; rejects when the topic cannot be used. */
  async open(): Promise<void> {
    const ready = new Promise<void>((resolve) => {
      this.#ready = resolve;
    });
    this.#timer = setInterval(() => this.#tick(), TICK_MS);
    await this.topic.open(this.#inbox);
    if (!this.#closed) await ready;
  }

  /** Returns a group's state; revision 0 = never changed at run time. */
  stateOf(name: string): GroupState {
    return this.#registry.stateOf(name);
  }

  /** Yields groups of run time beside YAML's. */
  *names(): Generator<string> {
    for (const name of this.#registry.names()) if (entryOf(name).kind === 'group') yield name;
  }

  /** Lists changes behind a revision, of one entry or all, in order. */
  changesAfter(revision: number, most: number, name: string | null, group?: string): AuditRecord[] {
    return this.#registry.trail.after(revision, most, name, group);
  }

  /** Calls `watcher` for each change applied from now on; returns what ends it. */
  watch(watcher: (change: RegistryChange) => void): () => void {
    // A watcher given twice is called twice, and ended one by one.
    const own = (change: RegistryChange) => watcher(change);
    this.#watchers.add(own);
    return () => void this.#watchers.delete(own);
  }

  get audited(): number {
    return this.#registry.trail.size;
  }

  /**
   * Proposes a change; resolves when the log has decided. Rejects with CHANGE_UNCONFIRMED if it has not in time: then
   * it is in force as a whole or not at all.
   *
   * @param expected revision that the group must have; 0 = it must not have been made at run time; null = any
   * @param detaching a deletion also takes the group's attachments at its offset
   */
  async propose(
    group: string,
    expected: number | null,
    definition: GroupDefinition | null,
    by: ChangedBy,
    { detaching = false } = {},
  ): Promise<ChangeDecision> {
    const proposed = { group, expected, definition, detaching, by };
    const decision = await this.#decided<ChangeDecision>(group, (id) => {
      this.#step({ kind: 'proposed', id, ...proposed });
    });
    this.changes[decision.accepted ? 'made' : 'late']++;
    return decision;
  }

  /** Proposes changes of many groups: all, or none. */
  async proposeAll(entries: readonly BatchEntry[], by: ChangedBy): Promise<BatchDecision> {
    const all = `${entries[0]?.group} and ${entries.length - 1} more`;
    const decision = await this.#decided<BatchDecision>(all, (id) => {
      this.#step({ kind: 'batch-proposed', id, entries, by });
    });
    if (decision.accepted) this.changes.made += entries.length;
    else this.changes.late += decision.late.length;
    return decision;
  }

  async #decided<Decided extends ChangeDecision | BatchDecision>(
    group: string,
    proposeAs: (id: string) => void,
  ): Promise<Decided> {
    if (!this.isReady || this.#closed) throw this.#parts.notReady();
    const id = randomUUID();
    let timer: NodeJS.Timeout | undefined;
    const decided = new Promise<Decided>((resolve, reject) => {
      const giveUp = (reason: string) => reject(new QuotameshError('CHANGE_UNCONFIRMED', { group, reason }));
      this.#waiting.set(id, { decide: (decision) => resolve(decision as Decided), giveUp });
      timer = setTimeout(() => {
        giveUp(this.lost ?? this.#unwritten.get(id) ?? `the topic has not answered within ${DECISION_TIMEOUT_MS} ms`);
      }, DECISION_TIMEOUT_MS);
    });
    proposeAs(id);
    try {
      return await decided;
    } catch (error) {
      this.changes.unconfirmed++;
      throw error;
    } finally {
      clearTimeout(timer);
      this.#waiting.delete(id);
      this.#unwritten.delete(id);
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#inbox.close();
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#ready();
    for (const { giveUp } of this.#waiting.values()) giveUp('this node ends');
    await this.topic.close();
  }

  #beginEpoch(epoch: string): void {
    const { name: from, changes } = this.#registry.epochs;
    this.#step({ kind: 'epoch-began', epoch });
    if (this.#registry.epochs.changes === changes) return;
    this.comparison.beginEpoch();
    const text = 'the registry topic holds another log than before; groups stay as they are and are written into it';
    this.#telemetry.log('warn', text, { from, to: epoch, groups: this.lacking });
  }

  #tick(): void {
    this.#step({ kind: 'tick' });
    if (this.isReady) {
      this.#applyChanges([...this.refused.keys()].slice(0, RETRIED_PER_TICK));
      if (this.lost !== null) void this.#probe();
    }
    const records = this.comparison.tick();
    // A record that does not arrive is written again after some ticks.
    if (records.length > 0) void this.topic.append(this.#encodeAll(records)).catch(() => undefined);
  }

  #step(event: RegistryEvent): void {
    const effects = this.#registry.step(event, this.#parts.clock());
    for (const name of effects.changed) this.#changed.add(name);
    for (const append of effects.appends) void this.#append(append);
    if (!this.isReady) return;
    this.#applyChanges();
    for (const decision of effects.decisions) {
      if (decision.change !== null) logChange(this.#telemetry, decision.change);
      for (const change of decision.detached) logChange(this.#telemetry, change);
      this.#waiting.get(decision.id)?.decide(decision);
    }
    for (const decision of effects.batchDecisions) {
      if (decision.accepted) logBatch(this.#telemetry, decision);
      this.#waiting.get(decision.id)?.decide(decision);
    }
    this.#ready();
  }

  /** Decodes a record for the machine, and YAML hashes for their comparison. */
  #decode({ offset, appendMs, key, value, isToRenew }: ReadRecord): ReadRegistryRecord {
    const decoded = value === null ? { record: null } : this.#codec.decode(value);
    if ('record' in decoded) {
      const { record } = decoded;
      if (record === null || record.kind === 'yaml') this.comparison.read(key, record, isToRenew);
      return { offset, appendMs, key, record, ...(isToRenew && { isToRenew }) };
    }
    const text = 'registry record ignored; further ones are only counted';
    if (this.#undecodable++ === 0) this.#telemetry.log('warn', text, { cause: decoded.cause, offset });
    return { offset, appendMs, key, record: { kind: 'unreadable' } };
  }

  #encodeAll(records: RegistryAppend['records']): readonly AppendRecord[] {
    return records.map(({ key, record }) => {
      return { partition: 0, key, value: record === null ? null : this.#codec.encode(record) };
    });
  }

  async #append({ ticket, records }: RegistryAppend): Promise<void> {
    const appends = this.#encodeAll(records);
    let kind: 'appended' | 'append-failed' = 'appended';
    try {
      await this.topic.append(appends);
    } catch (error) {
      kind = 'append-failed';
      const reason = messageOf(error);
      if (!this.#closed) this.#telemetry.log('debug', 'append to the registry failed', { reason });
      for (const { record } of records) {
        const isProposal = record?.kind === 'proposal' || record?.kind === 'batch';
        if (isProposal && this.#waiting.has(record.id)) this.#unwritten.set(record.id, reason);
      }
    }
    if (!this.#closed) this.#step({ kind, ticket });
  }

  /** Appends a record without effect to the lost topic: does it accept again? */
  async #probe(): Promise<void> {
    if (this.#isProbing) return;
    this.#isProbing = true;
    const key = this.#registry.keys.barrier(this.#parts.nodeId);
    await this.topic.append([{ partition: 0, key, value: null }]).catch(() => undefined);
    this.#isProbing = false;
  }

  /** Applies changes. @param again unusable entries, for which there may be room now */
  #applyChanges(again: readonly string[] = []): void {
    const changed = this.#changed;
    this.#changed = new Set();
    const names = new Set([...changed, ...again]);
    if (names.size === 0) return;
    const changes: AppliedChange[] = [];
    const told: string[] = [];
    for (const name of names) {
      const { revision } = this.stateOf(name);
      const kind = this.#apply(name, revision);
      if (kind !== null) this.refused.delete(name);
      else if (!changed.has(name)) continue;
      told.push(name);
      this.revision = Math.max(this.revision, revision);
      if (kind !== null) changes.push({ kind, name: entryOf(name).name, revision });
    }
    this.#parts.templates.apply();
    announceChanges(this.#telemetry, changes);
    const { yaml } = this.#parts;
    if ([...names].some((name) => yaml.says(entryOf(name).name))) yaml.tellHidden();
    if (this.#watchers.size > 0) for (const name of told) this.#tellWatchers(name);
  }

  #tellWatchers(entry: string): void {
    if (this.refused.has(entry)) return;
    const { revision, definition } = this.stateOf(entry);
    const change: RegistryChange = { ...entryOf(entry), revision, definition };
    for (const tell of this.#watchers) tell(change);
  }

  #apply(name: string, revision: number): AppliedChange['kind'] | null {
    const { definition } = this.stateOf(name);
    const { attachments, inForce, settings, yaml } = this.#parts;
    const configured = yaml.get(name);
    const entry = entryOf(name);
    if (entry.kind === 'attachment') {
      const reason = applyAttachment({ attachments, registry: settings }, entry.name, definition, revision);
      return reason === null ? 'attachment changed' : this.#refuse(name, revision, reason);
    }
    if (entry.kind !== 'group') {
      const reason = this.#parts.templates.define(entry.kind, entry.name, definition);
      return reason === null ? `${entry.kind} changed` : this.#refuse(name, revision, reason);
    }
    if (definition !== null) return this.#define(name, definition, revision);
    if (configured === undefined) inForce.remove(name);
    else inForce.define(configured);
    return 'group deleted';
  }

  /** Defines a group; a newer version's keys may mean nothing here. */
  #define(name: string, definition: GroupDefinition, revision: number): 'group defined' | null {
    const { config, mistakes } = examineGroup(name, definition, `revision ${revision}`);
    const { groups, inForce, settings, yaml } = this.#parts;
    const max = settings.maxGroups + yaml.numbersTaken;
    const other = groups.collisionOf(name);
    if (other !== null) return this.#refuse(name, revision, `it has the id of ${other}`);
    if (config !== null && (groups.has(name) || groups.size - groups.unlistedCount < max)) {
      inForce.define(config);
      return 'group defined';
    }
    const reason = config === null ? `${mistakes[0]?.path} ${mistakes[0]?.problem}` : `registry.maxGroups = ${max}`;
    return this.#refuse(name, revision, reason);
  }

  #refuse(name: string, revision: number, reason: string): null {
    const isNews = this.refused.get(name) !== reason;
    // At the end, so that all have their turn.
    this.refused.delete(name);
    this.refused.set(name, reason);
    const facts = { group: name, revision, reason };
    if (isNews) this.#telemetry.log('error', 'an entry of the registry cannot be used here', facts);
    return null;
  }
}

/** Entry of the registry now in force here. */
export interface AppliedChange {
  readonly kind: 'group defined' | 'group deleted' | 'attachment changed' | 'key-template changed' | 'key changed';
  /** Name of the group or key; path of the scope; the template's pattern. */
  readonly name: string;
  readonly revision: number;
}

/** Logs a line per change, or one for many at once: a script's, or the log's at the start. */
export function announceChanges(telemetry: Telemetry, changes: readonly AppliedChange[]): void {
  if (changes.length <= LINES_MAX) {
    for (const { kind, name, revision } of changes) {
      telemetry.log('info', `${kind} at run time`, { [FACT[kind]]: name, revision });
    }
    return;
  }
  const names = changes.slice(0, LINES_MAX).map(({ name }) => name);
  telemetry.log('info', 'groups changed at run time', {
    count: changes.length,
    groups: `${names.join(', ')} and ${changes.length - names.length} more`,
    revision: changes.reduce((newest, { revision }) => Math.max(newest, revision), 0),
  });
}

const FACT = {
  'group defined': 'group',
  'group deleted': 'group',
  'attachment changed': 'scope',
  'key-template changed': 'template',
  'key changed': 'key',
} as const;

const LINES_MAX = 5;
