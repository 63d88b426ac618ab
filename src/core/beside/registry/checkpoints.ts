import { DELETED_KEPT_MS, STATES_AT_ONCE } from '../constants.js';
import type { BatchedChanges } from './batched-changes.js';
import type { GroupHistory, GroupState } from './group-history.js';
import type { BatchDecision, ChangeDecision, RegistryEffects, RegistrySettings } from './registry-protocol.js';
import {
  type AuditRecord,
  keyOf,
  type RegistryKeys,
  type RegistryRecord,
  type StateRecord,
  type VerdictRecord,
} from './registry-record.js';
import type { Releases } from './releases.js';
import type { Trail } from './trail.js';

type Settings = Pick<RegistrySettings, 'nodeId' | 'lifeId' | 'adoptAfterMs'>;

/**
 * Writes groups' states after their proposals, and frees the replaced keys. Changes missing in the trail precede the
 * state in its append. One append is under way at a time: 1,000 changes of a group are a few states. The proposing node
 * writes; if it has died, others do after a while, each later than the one before. A batch's states follow its verdict
 * (batched-changes.ts); a group deleted with its attachments waits for their states (releases.ts).
 */
export class Checkpoints {
  readonly #settings: Settings;
  readonly #keys: RegistryKeys;
  readonly #entries: CheckpointedEntries;
  readonly #wanted = new Set<string>();
  /** Groups with more than a state in the log, and deleted ones. */
  readonly #untidy = new Set<string>();
  /** Accepted own changes that wait for their states. */
  #held: Held[] = [];
  #underWay: UnderWay | null = null;
  /** True = an append of states failed, and is not repeated yet. */
  #hasFailed = false;
  #ticket = 0;
  readonly #patienceMs: number;

  constructor(settings: Settings, keys: RegistryKeys, entries: CheckpointedEntries) {
    this.#settings = settings;
    this.#keys = keys;
    this.#entries = entries;
    this.#patienceMs = patienceOf(settings);
  }

  nextTicket(): number {
    return ++this.#ticket;
  }

  want(group: string): void {
    this.#wanted.add(group);
  }

  /** Holds an own proposal's decision until the log has its state. */
  hold(decision: ChangeDecision, offset: number): void {
    this.#held.push({ decision, offset, missing: new Set([decision.group]) });
    this.want(decision.group);
  }

  /** Holds an own batch's decision until the log has its states. */
  holdBatch(decision: BatchDecision, offset: number): void {
    const missing = new Set(decision.changes.map(({ group }) => group));
    this.#held.push({ decision, offset, missing });
    for (const group of missing) this.want(group);
  }

  seen(group: string, { keys, isOpen, isToRenew, current }: GroupHistory): void {
    const isTidy = keys.size === 0 || (keys.size === 1 && !isOpen && !isToRenew && current.definition !== null);
    if (isTidy) this.#untidy.delete(group);
    else this.#untidy.add(group);
  }

  /** Begins another log, into which held changes' states are written. */
  beginEpoch(): void {
    this.#wanted.clear();
    this.#untidy.clear();
    this.#underWay = null;
    this.#wantHeld();
  }

  #wantHeld(): void {
    this.#hasFailed = false;
    for (const { missing } of this.#held) for (const group of missing) this.want(group);
  }

  /** Writes states at the end of a step. `asOf`: read so far; `shift`: addend of offsets. */
  write(effects: RegistryEffects, { asOf, shift }: Pick<StateRecord, 'asOf' | 'shift'>): void {
    if (this.#underWay !== null || this.#wanted.size === 0) return;
    const groups = new Set<string>();
    const behind = new Set<string>();
    const states: StateRecord[] = [];
    for (const group of this.#wanted) {
      if (groups.size >= STATES_AT_ONCE) break;
      const before = this.#entries.releases.before(group);
      if (before.length > 0) {
        behind.add(group);
        for (const name of before) this.#wanted.add(name);
        continue;
      }
      this.#wanted.delete(group);
      const state = this.#entries.stateOf(group);
      if (state.revision === 0 && !this.#entries.groups.has(group)) continue;
      groups.add(group);
      states.push({ kind: 'state', author: this.#settings.nodeId, group, asOf, shift, ...state });
    }
    if (groups.size === 0) return;
    const audits = this.#entries.trail.missingOf(groups);
    const verdicts = this.#entries.batches.undeclared(groups);
    this.#underWay = { ticket: this.nextTicket(), groups, behind, asOf, audits, verdicts };
    const records = this.#keyed([...audits, ...verdicts, ...states]);
    effects.appends.push({ ticket: this.#underWay.ticket, records });
  }

  appended(ticket: number, effects: RegistryEffects, nowMs: number): void {
    const done = this.#end(ticket);
    if (done === null) return;
    for (const group of done.groups) this.#entries.groups.get(group)?.written(done.asOf);
    this.#answer(done.groups, done.asOf, effects);
    for (const audit of done.audits) this.#entries.trail.keep(audit, nowMs);
    const fallen = this.#entries.trail
      .takeFallen(done.audits.length, nowMs)
      .map((auditId) => this.#keys.audit(auditId));
    const replaced = [...done.groups].flatMap((group) => this.#replaced(group, done.asOf, nowMs));
    this.bury([...replaced, ...this.#entries.batches.written(done.verdicts, done.groups), ...fallen], effects);
  }

  /**
   * Repeats failed states at the next tick. At once would loop while the topic is away. *Why:* after a loss of the log
   * a node that has read more may write a state without the change, and acceptance would be untrue.
   */
  failed(ticket: number): void {
    const lost = this.#end(ticket);
    if (lost === null) return;
    for (const group of lost.behind) this.#wanted.delete(group);
    this.#hasFailed = true;
  }

  /** Finds overdue work: the writer died, the append failed, or the group was deleted long ago. */
  adopt(effects: RegistryEffects, nowMs: number, logMs: number): void {
    if (this.#hasFailed) this.#wantHeld();
    const { keys: freed, groups: left } = this.#entries.batches.takeOverdue(nowMs, logMs);
    for (const group of left) this.want(group);
    for (const group of this.#untidy) {
      const history = this.#entries.groups.get(group);
      if (history === undefined) {
        this.#untidy.delete(group);
      } else if (isForgotten(history, logMs)) {
        freed.push(...history.keys.keys());
      } else if (this.#isOverdue(history, nowMs)) {
        if (history.isOpen || history.isToRenew || history.isMisstated) this.want(group);
        else freed.push(...this.#replaced(group, history.asOf, nowMs));
      }
    }
    const stale = this.#entries.trail.takeStale(nowMs, this.#patienceMs);
    this.bury([...freed, ...stale.map((auditId) => this.#keys.audit(auditId))], effects);
    const overdue = this.#entries.trail.takeOverdue(nowMs, this.#patienceMs);
    if (overdue.length > 0) effects.appends.push({ ticket: this.nextTicket(), records: this.#keyed(overdue) });
  }

  /** Tests if a key has waited too long. The one key before a batch is the state before it, of any age. */
  #isOverdue({ awaitsBatchesAlone, keys }: GroupHistory, nowMs: number): boolean {
    if (awaitsBatchesAlone && keys.size <= 1) return false;
    return [...keys.values()].some((key) => nowMs - key.readMs > this.#patienceMs);
  }

  bury(keys: readonly string[], effects: RegistryEffects): void {
    if (keys.length === 0) return;
    effects.appends.push({ ticket: this.nextTicket(), records: keys.map((key) => ({ key, record: null })) });
  }

  #keyed(records: readonly RegistryRecord[]) {
    return records.map((record) => ({ key: keyOf(this.#keys, record), record }));
  }

  #end(ticket: number): UnderWay | null {
    const ended = this.#underWay;
    if (ended === null || ended.ticket !== ticket) return null;
    this.#underWay = null;
    return ended;
  }

  #answer(groups: ReadonlySet<string>, asOf: number, effects: RegistryEffects): void {
    this.#held = this.#held.filter(({ decision, offset, missing }) => {
      if (offset >= asOf) return true;
      for (const group of missing.size < groups.size ? missing : groups) if (groups.has(group)) missing.delete(group);
      if (missing.size > 0) return true;
      if ('state' in decision) effects.decisions.push(this.#withoutTakenBack(decision));
      else effects.batchDecisions.push(this.#batchWithoutTakenBack(decision));
      return false;
    });
  }

  /** Rejects a change that a state has undone. After a loss of the log, a node without the change may write back. */
  #withoutTakenBack(decision: ChangeDecision): ChangeDecision {
    const state = this.#entries.stateOf(decision.group);
    return state.revision < decision.state.revision ? rejected(decision, state) : decision;
  }

  #batchWithoutTakenBack(decision: BatchDecision): BatchDecision {
    const late = decision.changes
      .map(({ group }) => ({ group, revision: this.#entries.stateOf(group).revision }))
      .filter(({ revision }) => revision < decision.revision);
    return late.length === 0 ? decision : { ...decision, accepted: false, changes: [], late };
  }

  /** Lists keys contained in a state of the log: own and abandoned ones. */
  #replaced(group: string, asOf: number, nowMs: number): string[] {
    const keys = this.#entries.groups.get(group)?.keys ?? new Map<string, never>();
    const { nodeId } = this.#settings;
    return [...keys]
      .filter(([, key]) => key.asOf < asOf && (key.author === nodeId || nowMs - key.readMs > this.#patienceMs))
      .map(([key]) => key);
  }
}

function rejected(decision: ChangeDecision, state: GroupState): ChangeDecision {
  return { ...decision, accepted: false, change: null, detached: [], state };
}

interface CheckpointedEntries {
  readonly groups: ReadonlyMap<string, GroupHistory>;
  /** State in force, perhaps of an earlier log. */
  readonly stateOf: (group: string) => GroupState;
  readonly releases: Releases;
  readonly batches: BatchedChanges;
  readonly trail: Trail;
}

interface UnderWay {
  readonly ticket: number;
  readonly groups: ReadonlySet<string>;
  /** Deleted groups whose states wait for some of these. */
  readonly behind: ReadonlySet<string>;
  readonly asOf: number;
  readonly audits: readonly AuditRecord[];
  readonly verdicts: readonly VerdictRecord[];
}

interface Held {
  readonly decision: ChangeDecision | BatchDecision;
  readonly offset: number;
  readonly missing: Set<string>;
}

function isForgotten({ keys, isOpen, current }: GroupHistory, logMs: number): boolean {
  if (isOpen || current.definition !== null) return false;
  for (const key of keys.values()) if (logMs - key.logMs <= DELETED_KEPT_MS) return false;
  return true;
}

/** Returns a node's patience. It differs, so that one node after another takes over. */
export function patienceOf({ nodeId, adoptAfterMs }: Settings): number {
  return adoptAfterMs * (1 + turnOf(nodeId));
}

/** Returns a number in 0 … 1 that differs between most nodes. */
function turnOf(nodeId: string): number {
  let hash = 0;
  for (let at = 0; at < nodeId.length; at++) hash = (hash * 31 + nodeId.charCodeAt(at)) % 1009;
  return hash / 1009;
}
