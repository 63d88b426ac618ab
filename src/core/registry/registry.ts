import { Checkpoints } from './checkpoints.js';
import { GroupHistory, type GroupState, type LiveKey, NEVER } from './group-history.js';
import type { ReadRegistryRecord, RegistryEffects, RegistryEvent } from './registry-protocol.js';
import {
  keyOf,
  type ProposalRecord,
  type RegistryKeys,
  type RegistryRecord,
  registryKeys,
  type StateRecord,
} from './registry-record.js';

export interface RegistrySettings {
  readonly nodeId: string;
  /** Hash of the cluster's name. */
  readonly cluster: number;
  /** Given by the runtime; another one after each start of the node. */
  readonly lifeId: string;
  /** What others have left behind for this long is finished by this node; local time. */
  readonly adoptAfterMs: number;
}

/**
 * The groups that were defined at run time, as one ordered, compacted log has them: event + now → effects.
 *
 * Compare-and-set without a leader: whoever wants a change appends a proposal, and its place in the log decides, for
 * every reader alike (group-history.ts). Its writer then appends the group's whole state, and only then says that it
 * is done (checkpoints.ts). Nodes that have read as far hold the same groups, whatever has been compacted away.
 */
export class Registry {
  /** All that was there at the start has been read, and nothing that was compacted meanwhile can be missing. */
  isReady = false;
  /** Records that say what cannot be, or stand under a key that is not theirs. */
  ignored = 0;
  readonly keys: RegistryKeys;
  readonly #settings: RegistrySettings;
  readonly #groups = new Map<string, GroupHistory>();
  /** Key → group, for tombstones. */
  readonly #groupOfKey = new Map<string, string>();
  readonly #checkpoints: Checkpoints;
  #nextOffset = 0;
  #logMs = 0;
  #isCaughtUp = false;
  #effects: RegistryEffects = createEffects();

  constructor(settings: RegistrySettings) {
    this.#settings = settings;
    this.keys = registryKeys(settings.cluster);
    this.#checkpoints = new Checkpoints(settings, this.keys, this.#groups);
  }

  /** @param nowMs the node's monotonic clock */
  step(event: RegistryEvent, nowMs: number): RegistryEffects {
    this.#effects = createEffects();
    switch (event.kind) {
      case 'records-read':
        for (const read of event.records) this.#read(read, nowMs);
        break;
      case 'caught-up':
        this.#isCaughtUp = true;
        this.#raiseBarrier();
        break;
      case 'proposed': {
        const { id, group, expected, definition } = event;
        const record: ProposalRecord = {
          kind: 'proposal',
          id,
          author: this.#settings.nodeId,
          group,
          expected,
          definition,
        };
        this.#append([record]);
        break;
      }
      case 'appended':
        this.#checkpoints.appended(event.ticket, this.#effects, nowMs);
        break;
      case 'append-failed':
        this.#checkpoints.failed(event.ticket, this.#effects);
        break;
      case 'tick':
        if (this.isReady) this.#checkpoints.adopt(this.#effects, nowMs, this.#logMs);
        else if (this.#isCaughtUp) this.#raiseBarrier();
        break;
    }
    if (this.isReady) this.#checkpoints.write(this.#effects, this.#nextOffset);
    return this.#effects;
  }

  stateOf(group: string): GroupState {
    return this.#groups.get(group)?.current ?? NEVER;
  }

  /** Names of the groups that there are. */
  *names(): Generator<string> {
    for (const [name, { current }] of this.#groups) if (current.definition !== null) yield name;
  }

  /** Offset after the last record read. */
  get position(): number {
    return this.#nextOffset;
  }

  #read(read: ReadRegistryRecord, nowMs: number): void {
    const { offset, appendMs, key, record } = read;
    if (offset < this.#nextOffset) return;
    this.#nextOffset = offset + 1;
    this.#logMs = Math.max(this.#logMs, appendMs);
    if (record === null) this.#readTombstone(key);
    else if (keyOf(this.keys, record) !== key) this.ignored++;
    else if (record.kind === 'yaml') return;
    else if (record.kind === 'barrier') this.#readBarrier(record.id);
    else if (record.kind === 'state' && record.asOf > offset) this.ignored++;
    else this.#readGroup(read, record, nowMs);
  }

  #readBarrier(id: string): void {
    if (id !== this.#settings.lifeId || this.isReady) return;
    this.isReady = true;
    this.#checkpoints.bury([this.keys.barrier(this.#settings.nodeId)], this.#effects);
  }

  #readGroup(read: ReadRegistryRecord, record: ProposalRecord | StateRecord, nowMs: number): void {
    const { offset, appendMs, key, isToRenew = false } = read;
    const history = this.#groups.get(record.group) ?? new GroupHistory();
    this.#groups.set(record.group, history);
    const before = history.current;
    const isState = record.kind === 'state';
    const place = isState ? record.asOf : offset;
    history.keys.set(key, { offset, appendMs, readMs: nowMs, author: record.author, place, isState, isToRenew });
    this.#groupOfKey.set(key, record.group);
    if (isState) history.adopt(record);
    else this.#decide(record, offset, history);
    this.#checkpoints.seen(record.group, history);
    if (history.current !== before && history.current.revision !== before.revision) {
      this.#effects.changed.add(record.group);
    }
  }

  #decide(proposal: ProposalRecord, offset: number, history: GroupHistory): void {
    const { id, group, author } = proposal;
    const accepted = history.propose(offset, proposal);
    // An id is unique, but a node's id is not: only the process that is waiting for it is told.
    if (author !== this.#settings.nodeId || !this.isReady) return;
    const decision = { id, group, accepted, state: history.current };
    if (accepted) {
      this.#checkpoints.hold(decision, offset);
      return;
    }
    // A rejected proposal changes nothing, so it may go at once.
    this.#effects.decisions.push(decision);
    this.#checkpoints.bury([this.keys.proposal(id)], this.#effects);
  }

  #readTombstone(key: string): void {
    const group = this.#groupOfKey.get(key);
    const history = group === undefined ? undefined : this.#groups.get(group);
    if (group === undefined || history === undefined) return;
    const buried = history.keys.get(key);
    history.keys.delete(key);
    this.#groupOfKey.delete(key);
    if (buried !== undefined && isMissed(history, buried)) this.#checkpoints.want(group);
    else if (history.keys.size === 0 && history.current.definition === null) this.#groups.delete(group);
    this.#checkpoints.seen(group, history);
  }

  #raiseBarrier(): void {
    this.#append([{ kind: 'barrier', author: this.#settings.nodeId, id: this.#settings.lifeId }]);
  }

  #append(records: readonly RegistryRecord[]): void {
    const keyed = records.map((record) => ({ key: keyOf(this.keys, record), record }));
    this.#effects.appends.push({ ticket: this.#checkpoints.nextTicket(), records: keyed });
  }
}

/** Whoever buried it was wrong: a newcomer would miss the group, so its state is written again. */
function isMissed(history: GroupHistory, { offset, place, isState }: LiveKey): boolean {
  if (!isState) return history.forget(offset);
  if (history.current.definition === null) return false;
  for (const key of history.keys.values()) if (key.isState && key.place > place) return false;
  return true;
}

function createEffects(): RegistryEffects {
  return { appends: [], changed: new Set(), decisions: [] };
}
