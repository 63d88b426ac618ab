import { hasClusterBucket } from '../../src/core/base/local-gate.js';
import type { CoordinatorEvent, Effects } from '../../src/core/base/protocol/events-and-effects.js';
import type { GroupSettings } from '../../src/core/base/settings.js';
import { DIRECTION_COUNT, MESSAGES } from '../../src/core/base/vocabulary.js';
import type { NodeObserver, SimulatedNode } from '../cluster/simulated-node.js';
import type { World } from '../cluster/world.js';
import { AwayLaw } from './away-law.js';
import { burstPromised } from './burst-promised.js';
import { GroupLedger } from './group-ledger.js';
import { checkIsolation } from './isolation-law.js';
import { LogTimeLaw } from './log-time-law.js';
import { OrderLaw } from './order-law.js';
import { ProcessRecord } from './process-record.js';
import { checkRecovered } from './recovery-law.js';
import { checkAgreement } from './share-law.js';
import { checkTokens } from './token-law.js';
import { mayMissDead, readersOf, remembersMore, viewsOf } from './views.js';

/** Broken promise of docs/reference/promises.md. */
interface Violation {
  readonly atMs: number;
  /** Name of the promise in the document. */
  readonly promise: string;
  readonly says: string;
}

/** Keeps the first of each promise and group, and counts others. */
class Violations {
  readonly first: Violation[] = [];
  count = 0;
  readonly #known = new Set<string>();

  add(atMs: number, promise: string, about: string, says: string): void {
    this.count++;
    const key = `${promise} ${about}`;
    if (this.#known.has(key)) return;
    this.#known.add(key);
    this.first.push({ atMs, promise, says: `${about}: ${says}` });
  }
}

/**
 * Judges a running world by docs/reference/promises.md, and nothing of the core:
 *
 *  - at every change of a share or limit: Σ shares of equal readers ≤ target, Σ limits ≤ target and allowance, bursts
 *    as documented, nobody rises while isolated;
 *  - at every piece of work: no window has admitted more than its bound, in tokens;
 *  - at every `check`: equal readers compute the same shares, bit for bit, and apply them.
 */
export class Oracle implements NodeObserver {
  readonly violations = new Violations();
  readonly records = new Map<SimulatedNode, ProcessRecord>();
  readonly away: AwayLaw;
  readonly #world: World;
  readonly #ledgers: readonly GroupLedger[];
  /** True = sums exceed one view's; views are separated after every record. */
  readonly #isSplit: boolean[];
  /** Settings looked at last, per group: does the cluster have a bucket? */
  readonly #seen: { settings: GroupSettings; hasBucket: boolean }[];
  readonly #touched = new Set<number>();
  readonly #order = new OrderLaw();
  readonly #logTime = new LogTimeLaw();
  /** Views of the judged step; null = not told apart yet. */
  #views: ProcessRecord[][] | null = null;
  /** Nodes that must have recovered; null = faults have effects. */
  #expected: readonly string[] | null = null;

  constructor(world: World) {
    this.#world = world;
    this.#ledgers = world.settings.groups.map(() => new GroupLedger());
    this.#isSplit = world.settings.groups.map(() => false);
    this.#seen = world.settings.groups.map((settings) => ({ settings, hasBucket: hasClusterBucket(settings) }));
    this.away = new AwayLaw(world.settings.groups.length);
  }

  stepped(node: SimulatedNode, event: CoordinatorEvent, effects: Effects): void {
    const record = this.#recordOf(node);
    this.#views = null;
    if (event.kind === 'caught-up') record.caughtUpLogMs = node.coordinator.log.membershipLogMs;
    if (event.kind === 'records-read') this.#lookAtPool(record);
    this.#touched.clear();
    const isServing = node.isRunning && node.coordinator.phase === 'ready';
    if (isServing !== record.isServing) {
      record.isServing = isServing;
      this.#touchAll();
    }
    this.#touch(effects.decidedLanes);
    this.#touch(effects.changedLanes);
    this.#touch(effects.servedLanes);
    this.#touch(effects.unservedLanes);
    if (event.kind === 'records-read' || event.kind === 'epoch-began') {
      for (let group = 0; group < this.#isSplit.length; group++) if (this.#isSplit[group]) this.#touched.add(group);
    }
    for (const group of this.#touched) this.#look(group, record);
  }

  admitted(node: SimulatedNode, lane: number, messages: number): void {
    if (lane % DIRECTION_COUNT !== 0) return;
    const group = lane / DIRECTION_COUNT;
    if (this.#hasBucket(group)) return;
    const record = this.#recordOf(node);
    record.buckets[group]?.take(messages, this.#world.nowMs);
    this.#admit(record.ledgers[group], group, messages, record.name);
    this.#admit(this.#ledgers[group], group, messages, 'the cluster');
  }

  refused(node: SimulatedNode, lane: number, messages: number): void {
    if (this.#expected === null || lane % DIRECTION_COUNT !== 0) return;
    const group = lane / DIRECTION_COUNT;
    if (this.#hasBucket(group)) return;
    const record = this.#recordOf(node);
    const tokens = record.buckets[group]?.tokensAt(this.#world.nowMs) ?? 0;
    if (tokens < messages + TOKEN_ERROR) return;
    this.#fail('refusals', group, `${record.name} refuses ${messages} of ${tokens} tokens`);
  }

  #admit(ledger: GroupLedger, group: number, messages: number, who: string): void {
    const excess = ledger.admit(messages, this.#world.nowMs);
    if (excess <= TOKEN_ERROR) return;
    const since = (ledger.sinceMs / 1000).toFixed(3);
    this.#fail('admissions', group, `${who} has admitted ${excess.toFixed(3)} tokens too many since ${since} s`);
  }

  ended(node: SimulatedNode): void {
    const record = this.#recordOf(node);
    this.#touched.clear();
    this.#touchAll();
    record.isServing = false;
    this.#views = null;
    for (const group of this.#touched) this.#look(group, record);
    this.records.delete(node);
  }

  /** Expects each node as one deciding process that knows all others. */
  expectRecovered(nodes: readonly string[]): void {
    this.#expected = nodes;
    for (const { buckets } of this.records.values()) for (const bucket of buckets) bucket.emptyAt(this.#world.nowMs);
  }

  /** Checks what is too costly for every step. */
  check(): void {
    const { nowMs, settings, topic } = this.#world;
    const fail = (promise: string, about: string, says: string) => this.violations.add(nowMs, promise, about, says);
    const failOf = (promise: string) => (about: string, says: string) => fail(promise, about, says);
    this.#order.check(topic.log, topic.epoch, failOf('order'));
    this.away.check(this.#world, this.records.values(), failOf('sum while away'));
    if (this.#expected !== null) {
      checkRecovered(this.#world, this.#expected, failOf('recovery'));
      this.#logTime.check(this.records.values(), failOf('log time'));
    }
    const all = readersOf(this.records.values(), settings);
    for (const view of viewsOf(all)) checkAgreement(view, this.#world, fail);
    for (const readers of all) checkTokens(readers, settings, fail);
  }

  #lookAtPool(record: ProcessRecord): void {
    if (record.hasPoolOfItsOwn && !(record.isServing && this.#areAgreed())) return;
    record.hasPoolOfItsOwn = remembersMore(record, this.records.values()) || mayMissDead(record, this.records.values());
  }

  #areAgreed(): boolean {
    for (const record of this.records.values()) if (record.isServing && !isAgreed(record)) return false;
    return true;
  }

  #recordOf(node: SimulatedNode): ProcessRecord {
    const known = this.records.get(node);
    if (known !== undefined) return known;
    const { nodeId, nonce } = node.coordinator.settings;
    const record = new ProcessRecord(node, `${nodeId}/${nonce}`, this.#ledgers.length);
    this.records.set(node, record);
    return record;
  }

  #touchAll(): void {
    for (let group = 0; group < this.#ledgers.length; group++) this.#touched.add(group);
  }

  #touch(lanes: readonly number[]): void {
    for (const lane of lanes) if (lane % DIRECTION_COUNT === 0) this.#touched.add(lane / DIRECTION_COUNT);
  }

  #look(group: number, changed: ProcessRecord): void {
    const ledger = this.#ledgers[group];
    ledger.advance(this.#world.nowMs);
    const { isServed, isLinked, share } = changed;
    const before = { isServed: isServed[group], isLinked: isLinked[group], share: share[group] };
    changed.look(group);
    this.#follow(changed, group, before.isServed);
    const settings = this.#settingsOf(group);
    const fail = (promise: string, says: string) => this.#fail(promise, group, says);
    if (!this.#hasBucket(group)) burstPromised(changed, group, settings, fail);
    checkIsolation(before, changed, group, settings, fail);
    this.#judge(group, ledger);
  }

  /** Updates the process's ledger. */
  #follow({ ledgers, buckets, isServed, share, depth }: ProcessRecord, group: number, wasServed: boolean): void {
    buckets[group]?.set(share[group], depth[group], this.#world.nowMs);
    const own = ledgers[group];
    own.advance(this.#world.nowMs);
    if (isServed[group] && !wasServed) {
      own.bring(depth[group]);
      this.#ledgers[group]?.bring(depth[group]);
    }
    own.set(share[group], depth[group]);
  }

  /** Updates the group's ledger, and checks its shares. */
  #judge(group: number, ledger: GroupLedger): void {
    const target = this.#settingsOf(group).quota.publish[MESSAGES];
    let [shares, burst] = [0, 0];
    for (const { share, depth } of this.records.values()) {
      shares += share[group];
      burst += depth[group];
    }
    const isSplit = shares > target * (1 + SUM_ERROR);
    this.#isSplit[group] = isSplit;
    ledger.set(isSplit ? this.#capOfViews(group, target) : shares, burst);
  }

  /** Returns the cap of all views, each within the target. */
  #capOfViews(group: number, target: number): number {
    let cap = 0;
    this.#views ??= viewsOf(readersOf(this.records.values(), this.#world.settings));
    for (const view of this.#views) {
      const shares = view.reduce((total, { share }) => total + share[group], 0);
      cap += Math.min(shares, target);
      if (shares <= target * (1 + SUM_ERROR)) continue;
      const held = view.map(({ name, share }) => `${name} ${share[group].toFixed(3)}`).join(', ');
      this.#fail('sum of shares', group, `${shares.toFixed(3)} of ${target}: ${held}`);
    }
    return cap;
  }

  #settingsOf(group: number) {
    return this.#world.settings.groups[group];
  }

  /** Tests for a cluster's bucket, judged by token-law.ts and the figures. */
  #hasBucket(group: number): boolean {
    const settings = this.#settingsOf(group);
    const seen = this.#seen[group];
    if (seen.settings !== settings) this.#seen[group] = { settings, hasBucket: hasClusterBucket(settings) };
    return this.#seen[group].hasBucket;
  }

  #fail(promise: string, group: number, says: string): void {
    this.violations.add(this.#world.nowMs, promise, this.#settingsOf(group).name, says);
  }
}

function isAgreed({ node }: ProcessRecord): boolean {
  return node.coordinator.log.pools.every((pool) => pool.isAgreed);
}

/** Relative error of sums over some nodes. */
const SUM_ERROR = 1e-9;
/** Tokens of rounding in 100,000 sums of thousands. */
const TOKEN_ERROR = 1e-5;
