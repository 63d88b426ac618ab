import { Registry } from '../../src/core/beside/registry/registry.js';
import type {
  BatchDecision,
  ChangeDecision,
  ReadRegistryRecord,
  RegistryAppend,
} from '../../src/core/beside/registry/registry-protocol.js';
import type {
  AuditRecord,
  BatchEntry,
  GroupDefinition,
  RegistryKeys,
} from '../../src/core/beside/registry/registry-record.js';

const FIRST_OFFSET = 1_700_000_000 * 2 ** 20;
/** What Redis leaves out when it was started anew; a broker of Kafka leaves out one where it writes of its own. */
const OFFSETS_PER_RESTART = 2 ** 20;

/** 0 ≤ x < 1. */
export type Random = () => number;

const ADOPT_AFTER_MS = 10_000;

/** Registries of several nodes on one simulated log, in virtual time: appends and reads are late, nodes die, the log compacts. */
export class RegistryCluster {
  readonly log: ReadRegistryRecord[] = [];
  /** All that has ever arrived, for judges: nothing of it is compacted away. */
  readonly history: ReadRegistryRecord[] = [];
  /** Changes that the nodes' trails keep. */
  readonly auditedChanges: number;
  readonly nodes = new Map<string, SimulatedRegistry>();
  nowMs = 0;
  /** Off: appends arrive once, and in time. */
  losesAppends = true;
  readonly #random: Random;
  /** Where offsets begin: at 0 as Kafka's do, or where Redis' do. */
  readonly first: number;
  #end: number;
  #epoch = 1;
  #lives = 0;
  /** Sent by nodes that were killed, or given up by their writers; they arrive at any time. */
  readonly #late: RegistryAppend[] = [];

  constructor(random: Random, auditedChanges = 1_000_000) {
    this.#random = random;
    this.first = random() < 0.5 ? 0 : FIRST_OFFSET;
    this.#end = this.first;
    this.auditedChanges = auditedChanges;
  }

  start(nodeId: string): SimulatedRegistry {
    const node = new SimulatedRegistry(nodeId, `${nodeId}/${++this.#lives}`, this.auditedChanges);
    this.nodes.set(nodeId, node);
    node.step({ kind: 'epoch-began', epoch: `${this.#epoch}` }, this.nowMs);
    return node;
  }

  /** Another cluster that finds what has arrived by now, and none of these nodes. */
  fork(): RegistryCluster {
    const fork = new RegistryCluster(this.#random, this.auditedChanges);
    fork.log.push(...this.log);
    fork.history.push(...this.history);
    fork.nowMs = this.nowMs;
    fork.#end = this.#end;
    return fork;
  }

  /** An offset of a part of the log, 0 … 1. */
  at(part: number): number {
    return this.history[Math.floor(part * this.history.length)]?.offset ?? this.#end;
  }

  /** The log loses what stands at `from` and behind it; what was sent may still arrive. */
  truncate(from: number, isNoticed = true): void {
    const kept = this.log.filter(({ offset }) => offset < from);
    this.log.splice(0, this.log.length, ...kept);
    this.#end = Math.min(this.#end, from);
    if (isNoticed) this.tellEpoch();
  }

  /** All that run find another log. */
  tellEpoch(): void {
    this.#epoch++;
    for (const node of this.nodes.values()) {
      node.goal = null;
      node.isCaughtUp = false;
      node.step({ kind: 'epoch-began', epoch: `${this.#epoch}` }, this.nowMs);
    }
  }

  /** Goes on with the log, and the time, that another one has come to. */
  continueOn(other: RegistryCluster): void {
    this.log.splice(0, this.log.length, ...other.log);
    this.nowMs = other.nowMs;
    this.#end = other.#end;
  }

  /** kill -9: what it has sent may still arrive. */
  kill(nodeId: string): void {
    const node = this.nodes.get(nodeId);
    this.nodes.delete(nodeId);
    for (const append of node?.sent.splice(0) ?? []) if (this.#random() < 0.5) this.#late.push(append);
  }

  /** Something happens: an append arrives, somebody reads, time passes. */
  move(): void {
    const nodes = [...this.nodes.values()];
    const node = nodes[Math.floor(this.#random() * nodes.length)];
    if (node === undefined) return;
    const kind = this.#random();
    if (kind < 0.45) this.#deliver(node, 1 + Math.floor(this.#random() * 20));
    else if (kind < 0.9) this.#send(node);
    else if (kind < 0.95) this.nowMs += this.#random() * 20;
    else if (kind < 0.97) this.#arriveLate();
    else if (kind < 0.98) this.#end += this.#random() < 0.5 ? 1 : OFFSETS_PER_RESTART;
    else this.compact(this.at(this.#random()));
  }

  /** Until nothing is under way any more, and long enough that nothing is left behind. */
  settle(): void {
    for (let second = 0; second < 40; second++) {
      this.nowMs += 1000;
      for (const node of this.nodes.values()) node.step({ kind: 'tick' }, this.nowMs);
      this.exchange();
    }
  }

  /** A second later. */
  tick(node: SimulatedRegistry): void {
    this.nowMs += 1000;
    node.step({ kind: 'tick' }, this.nowMs);
  }

  /** Until nobody has anything to send or to read. */
  exchange(): void {
    for (let round = 0; round < 10_000; round++) {
      let moved = false;
      for (const node of this.nodes.values()) {
        if (this.#send(node) || this.#deliver(node, 1 + Math.floor(this.#random() * 100))) moved = true;
      }
      if (!moved) return;
    }
    throw new Error(`never at rest: ${JSON.stringify(this.log.slice(-6))}`);
  }

  /** The newest record of each key survives below the offset; tombstones go too, the oldest of them. */
  compact(below: number): void {
    const oldest = this.at(this.#random() / 2);
    const newest = new Map(this.log.map(({ key, offset }) => [key, offset]));
    const kept = this.log.filter(
      ({ key, offset, record }) =>
        offset >= below || (newest.get(key) === offset && (record !== null || offset > oldest)),
    );
    this.log.splice(0, this.log.length, ...kept);
  }

  #send(node: SimulatedRegistry): boolean {
    const append = node.sent.shift();
    if (append === undefined) return false;
    const fate = this.losesAppends ? this.#random() : 1;
    // An append whose promise was rejected may be in the log or not, now or later.
    if (fate < 0.03) this.#late.push(append);
    if (fate >= 0.06) this.#arrive(append);
    node.step({ kind: fate < 0.1 ? 'append-failed' : 'appended', ticket: append.ticket }, this.nowMs);
    return true;
  }

  #from(offset: number, most: number): ReadRegistryRecord[] {
    let at = this.log.length;
    while (at > 0 && this.log[at - 1].offset >= offset) at--;
    return this.log.slice(at, at + most);
  }

  #arriveLate(): void {
    const append = this.#late.splice(Math.floor(this.#random() * this.#late.length), 1)[0];
    if (append !== undefined) this.#arrive(append);
  }

  #arrive(append: RegistryAppend): void {
    for (const { key, record } of append.records) {
      const arrived = { offset: this.#end++, appendMs: this.nowMs, key, record };
      this.log.push(arrived);
      this.history.push(arrived);
    }
  }

  #deliver(node: SimulatedRegistry, most: number): boolean {
    const from = node.registry.offset;
    const records = this.#from(from, most);
    if (records.length > 0) node.step({ kind: 'records-read', records }, this.nowMs);
    if (node.goal === null) node.goal = this.#end;
    const at = records.at(-1)?.offset ?? this.#end - 1;
    if (!node.isCaughtUp && (at + 1 >= node.goal || records.length === 0)) {
      node.isCaughtUp = true;
      node.step({ kind: 'caught-up' }, this.nowMs);
      return true;
    }
    return records.length > 0;
  }
}

export class SimulatedRegistry {
  readonly registry: Registry;
  readonly sent: RegistryAppend[] = [];
  readonly decisions: ChangeDecision[] = [];
  readonly batchDecisions: BatchDecision[] = [];
  goal: number | null = null;
  isCaughtUp = false;
  readonly #lifeId: string;
  #count = 0;

  constructor(nodeId: string, lifeId: string, auditedChanges: number) {
    this.#lifeId = lifeId;
    this.registry = new Registry({ nodeId, cluster: 0xc1, lifeId, adoptAfterMs: ADOPT_AFTER_MS, auditedChanges });
  }

  propose(
    group: string,
    expected: number | null,
    definition: GroupDefinition | null,
    nowMs: number,
    detaching = false,
  ): string {
    const id = `${this.#lifeId}-${++this.#count}`;
    const by = { name: `${group} team`, how: 'token', requestId: id, atMs: nowMs };
    this.step({ kind: 'proposed', id, group, expected, definition, detaching, by }, nowMs);
    return id;
  }

  proposeBatch(entries: readonly BatchEntry[], nowMs: number): string {
    const id = `${this.#lifeId}-${++this.#count}`;
    this.step(
      { kind: 'batch-proposed', id, entries, by: { name: 'team', how: 'token', requestId: id, atMs: nowMs } },
      nowMs,
    );
    return id;
  }

  step(event: Parameters<Registry['step']>[0], nowMs: number): void {
    const before = this.#revisions();
    const effects = this.registry.step(event, nowMs);
    this.#expectTold(before, effects.changed);
    this.sent.push(
      ...effects.appends.map((append) => (this.#count % 2 === 1 ? inParts(append, this.registry.keys) : append)),
    );
    this.decisions.push(...effects.decisions);
    this.batchDecisions.push(...effects.batchDecisions);
  }

  /** A node reads anew only the entries that a step names. A step may name more than have moved. */
  #expectTold(before: ReadonlyMap<string, number>, changed: ReadonlySet<string>): void {
    for (const name of new Set([...before.keys(), ...this.#revisions().keys()])) {
      const { revision } = this.registry.stateOf(name);
      if (revision !== before.get(name) && !changed.has(name)) throw new Error(`nobody is told of ${name}/${revision}`);
    }
  }

  #revisions(): Map<string, number> {
    return new Map([...this.registry.names()].map((name) => [name, this.registry.stateOf(name).revision]));
  }

  /** The trail of changes, as this node tells it. */
  get trail(): AuditRecord[] {
    return this.registry.trail.after(0, Infinity, null);
  }

  /** All groups with their revisions. */
  get view(): string {
    const names = [...this.registry.names()].sort();
    return JSON.stringify(names.map((name) => [name, this.registry.stateOf(name)]));
  }
}

/** As if each definition but the last filled a record: batches that large are written in parts. */
function inParts(append: RegistryAppend, keys: RegistryKeys): RegistryAppend {
  const records = append.records.flatMap(({ key, record }): RegistryAppend['records'][number][] => {
    if (record?.kind !== 'batch') return [{ key, record }];
    const { id, author, entries } = record;
    const parts = entries.slice(0, -1).map((entry, part) => {
      return {
        key: keys.batchPart(id, part),
        record: { kind: 'batch-part', id, author, part, entries: [entry] } as const,
      };
    });
    return [...parts, { key, record: { ...record, parts: parts.length, entries: entries.slice(-1) } }];
  });
  return { ...append, records };
}
