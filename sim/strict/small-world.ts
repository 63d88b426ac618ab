import { EXPIRY_MS, STEP_MAX_MS } from '../../src/core/strict/constants.js';
import { StrictClock } from '../../src/core/strict/strict-clock.js';
import { StrictFold } from '../../src/core/strict/strict-fold.js';
import { ALL_ENDED_MS } from '../../src/core/strict/strict-newcomer.js';
import { unitsOf } from '../../src/core/strict/strict-quota.js';
import type { StrictRead, StrictRecord } from '../../src/core/strict/strict-record.js';
import { abandonedState, emptyState } from '../../src/core/strict/strict-state.js';
import { StrictWallet } from '../../src/core/strict/strict-wallet.js';
import { CentralBucket } from './central-bucket.js';

const NODES = ['a', 'b', 'c'];
/** A token flows in 7 s; 6 s pass at once. */
const QUOTA = { amount: 1, perMs: 7000, depth: 3 };
const LOWERED = { amount: 1, depth: 2 };
/** Tokens of an order: two of them want more than there is. */
const ORDERED = 2;

/** Bounds of what may go wrong in one world; each is a choice at any moment. */
export interface SmallBounds {
  readonly losses: number;
  readonly repeats: number;
  readonly crashes: number;
  readonly changes: number;
  readonly expiries: number;
  readonly epochs: number;
}

interface SmallNode {
  fold: StrictFold;
  clock: StrictClock;
  wallet: StrictWallet | null;
  life: number;
  seq: number;
  at: number;
  /** Offset of the join after the last restart; −1 = none. */
  joined: number;
  joinedMs: number;
}

/** Holds three nodes with three tokens, on production fold and wallet. */
export class SmallWorld {
  nowMs = 0;
  /** Nodes that have acted: the first ones. */
  #acted = 0;
  /** Null as long as all is well. */
  broken: string | null = null;
  readonly #log: StrictRead[] = [];
  #pending: StrictRecord[] = [];
  readonly #nodes: SmallNode[];
  readonly #judge = new CentralBucket(QUOTA);
  readonly #all: StrictFold;
  readonly #left: Record<keyof SmallBounds, number>;
  readonly #onWallet: (wallet: StrictWallet) => void;

  /** @param onWallet puts a fault into each new wallet, to be found */
  constructor(bounds: SmallBounds, onWallet: (wallet: StrictWallet) => void = () => {}) {
    this.#onWallet = onWallet;
    this.#left = { ...bounds };
    this.#all = begun();
    this.#nodes = NODES.map(() => {
      const clock = new StrictClock();
      clock.read(0, 0, false);
      return { fold: begun(), clock, wallet: null, life: 1, seq: 0, at: 0, joined: -1, joinedMs: 0 };
    });
  }

  /** Lists all that may happen next. */
  get actions(): readonly string[] {
    const actions = this.#pending.flatMap((_, at) => [`append ${at}`, ...this.#if('losses', `lose ${at}`)]);
    if (this.#pending.length < 3) for (const [at, node] of this.#known) actions.push(...this.#ofNode(at, node));
    for (const [at, node] of this.#known) if (node.at < this.#log.length) actions.push(`read ${at}`);
    for (const { offset, record } of this.#log) {
      if (record.kind === 'claim') actions.push(...this.#if('repeats', `repeat ${offset}`));
    }
    actions.push(...this.#if('changes', 'change'), ...this.#if('expiries', 'pass'));
    return actions;
  }

  act(action: string): void {
    const [verb, number] = action.split(' ');
    const at = Number(number);
    if (verb === 'append') this.#append(this.#pending.splice(at, 1)[0]);
    else if (verb === 'lose') this.#spend('losses', () => this.#pending.splice(at, 1));
    else if (verb === 'repeat') this.#spend('repeats', () => this.#append(this.#log[at].record));
    else if (verb === 'change') this.#spend('changes', () => this.#change());
    else if (verb === 'pass') this.#spend('expiries', () => this.#pass());
    else this.#byNode(verb, at, this.#nodes[at]);
    this.#check();
  }

  /** Everything from which the future follows. */
  get hash(): string {
    const nodes = this.#nodes.map(({ fold, clock, wallet, life, seq, at, joined, joinedMs }) => {
      const bounds = [clock.lowAt(this.nowMs), clock.highAt(this.nowMs)];
      const held = wallet && [wallet.balanceAt(this.nowMs), wallet.taken, wallet.readMs, wallet.inFlight, wallet.key];
      return [fold.state, bounds, held, life, seq, this.#log.slice(at).map(({ record }) => record), joined, joinedMs];
    });
    const repeatable = this.#left.repeats > 0 ? this.#log.map(({ record }) => record) : [];
    return JSON.stringify([this.nowMs, nodes, this.#pending, this.#judge.level, this.#left, repeatable]);
  }

  /** Nodes that have acted, and the next one: those behind it are all alike. */
  get #known(): readonly (readonly [at: number, node: SmallNode])[] {
    return [...this.#nodes.entries()].slice(0, this.#acted + 1);
  }

  #if(bound: keyof SmallBounds, action: string): string[] {
    return this.#left[bound] > 0 ? [action] : [];
  }

  #spend(bound: keyof SmallBounds, run: () => void): void {
    this.#left[bound]--;
    run();
  }

  #ofNode(at: number, { wallet, fold, clock, joined, joinedMs }: SmallNode): string[] {
    const actions = [`order ${at}`, ...this.#if('crashes', `crash ${at}`)];
    const balance = wallet?.tokensAt(this.nowMs) ?? 0;
    if (wallet !== null) actions.push(`return ${at}`, `leave ${at}`);
    if (balance > 0) actions.push(`use ${at}`);
    const isSilent = [...fold.holders.values()].some(({ readMs }) => clock.lowAt(this.nowMs) - readMs >= EXPIRY_MS);
    if (isSilent) actions.push(`expire ${at}`);
    if (joined >= 0 && (fold.isAtRest || this.nowMs - joinedMs > ALL_ENDED_MS))
      actions.push(...this.#if('epochs', `found ${at}`));
    return actions;
  }

  #byNode(verb: string, at: number, node: SmallNode): void {
    this.#acted = Math.max(this.#acted, at + 1);
    if (verb === 'read') while (node.at < this.#log.length) this.#read(node);
    else if (verb === 'crash') this.#spend('crashes', () => this.#crash(at, node));
    else if (verb === 'order') this.#claim(at, node, ORDERED);
    else if (verb === 'return') this.#claim(at, node, -(node.wallet?.tokensAt(this.nowMs) ?? 0));
    else if (verb === 'leave') this.#leave(at, node);
    else if (verb === 'use' && node.wallet?.take(1, this.nowMs)) this.#use();
    else if (verb === 'expire') this.#expire(node);
    else if (verb === 'found') this.#spend('epochs', () => this.#found(at, node));
  }

  #found(at: number, { life, joined, fold }: SmallNode): void {
    this.#pending.push({ kind: 'found', node: NODES[at], life, since: joined, state: abandonedState(fold.state) });
  }

  #append(record: StrictRecord): void {
    const read = { offset: this.#log.length, appendMs: this.nowMs, record };
    this.#log.push(read);
    this.#all.apply(read);
    const { amount, depth } = this.#all.inForce;
    this.#judge.change(amount, depth, this.nowMs);
  }

  #change(): void {
    const isLower = this.#all.quota.depth === LOWERED.depth;
    this.#append({ kind: 'quota', revision: this.#all.revision + 1, ...(isLower ? QUOTA : LOWERED) });
  }

  /** Lets an expiry pass, with a bystander's records to show it. */
  #pass(): void {
    for (let passedMs = 0; passedMs < EXPIRY_MS; passedMs += STEP_MAX_MS) {
      this.nowMs += STEP_MAX_MS;
      this.#append({ kind: 'join', node: 'z', life: 1 });
    }
  }

  #read(node: SmallNode): void {
    const read = this.#log[node.at++];
    const { record } = read;
    node.wallet?.count(this.nowMs);
    const isRestart = record.kind === 'found' && node.fold.foundedBy(record);
    node.fold.apply(read);
    if (isRestart) node.clock.forget();
    node.clock.read(node.fold.nowMs, this.nowMs, node.fold.isWhole && !isRestart);
    const { wallet } = node;
    if (wallet === null) return;
    if (record.kind === 'claim' && `${record.node}/${record.life}` === wallet.key) {
      const sentMs = wallet.readBack(record);
      if (sentMs !== null) node.clock.readOwn(wallet.readMs, sentMs, this.nowMs);
    }
    wallet.settle(this.nowMs);
    if (isRestart || (wallet.readMs > -Infinity && !node.fold.holders.has(wallet.key))) this.#end(node);
  }

  #end(node: SmallNode): void {
    node.wallet = null;
    node.life++;
    node.seq = 0;
  }

  /** Loses a process and all that it held; the next one reads the log from its beginning. */
  #crash(at: number, node: SmallNode): void {
    this.#end(node);
    node.fold = begun();
    node.clock = new StrictClock();
    node.at = 0;
    node.joined = this.#log.length;
    node.joinedMs = this.nowMs;
    this.#append({ kind: 'join', node: NODES[at], life: node.life });
    while (node.at < this.#log.length) this.#read(node);
  }

  #claim(at: number, node: SmallNode, tokens: number): void {
    if (node.wallet === null) {
      node.wallet = new StrictWallet(node.fold, node.clock, { node: NODES[at], life: node.life });
      this.#onWallet(node.wallet);
    }
    const { wallet } = node;
    const hold = Math.max(0, wallet.tokensAt(this.nowMs) + tokens);
    const own = { node: NODES[at], life: node.life, seq: ++node.seq } as const;
    const claim = { kind: 'claim', ...own, want: 0, lagMs: 0, taken: wallet.taken + tokens, hold } as const;
    wallet.wrote(claim, this.nowMs);
    this.#pending.push(claim);
  }

  #leave(at: number, node: SmallNode): void {
    const { wallet } = node;
    if (wallet === null) return;
    const taken = wallet.taken - wallet.tokensAt(this.nowMs);
    this.#pending.push({ kind: 'leave', node: NODES[at], life: node.life, seq: node.seq + 1, taken });
    this.#end(node);
  }

  #expire({ fold, clock }: SmallNode): void {
    for (const { node, life, seq, readMs } of fold.holders.values()) {
      if (clock.lowAt(this.nowMs) - readMs < EXPIRY_MS) continue;
      this.#pending.push({ kind: 'expire', node, life, seq });
      return;
    }
  }

  #use(): void {
    const missing = this.#judge.force(1, this.nowMs);
    if (missing > 0) this.broken ??= `${missing / QUOTA.perMs} tokens more than one central bucket`;
  }

  #check(): void {
    const { pool, poolMost, heldTokens, quota, inForce } = this.#all;
    const isLowered = inForce.depth > quota.depth;
    if (pool > poolMost) this.broken ??= 'the pool has more than it may';
    if (!isLowered && unitsOf(heldTokens, quota) + pool > unitsOf(quota.depth, quota))
      this.broken ??= 'more is held than there is';
  }
}

/** Makes the bucket of a bystander, full when the world begins. */
function begun(): StrictFold {
  const state = { ...emptyState(QUOTA, 1), appendMs: 0 };
  return new StrictFold({ ...state, pool: unitsOf(QUOTA.depth, QUOTA) });
}
