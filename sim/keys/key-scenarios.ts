import { KeyedCluster, type KeyedClusterSettings } from './keyed-cluster.js';

/** Keys of one template with equal demand, and their nodes. */
interface KeyScenario {
  readonly name: string;
  readonly says: string;
  readonly nodes: number;
  readonly keys: number;
  /** Messages wanted ÷ quota. */
  readonly demand: number;
  /** `own`: each key at one node; `any`: requests anywhere; `all`: at all nodes at one instant. */
  readonly at: 'own' | 'any' | 'all';
  /** Messages of a key's bucket. */
  readonly depth: number;
  readonly delays?: KeyedClusterSettings['delays'];
  readonly crashAtSec?: number;
}

export interface KeyFigures {
  /** Granted ÷ wanted of each key's first bucketful; all keys together. */
  readonly first: number;
  /** Granted ÷ wanted quota in the judged time, mean of all keys. */
  readonly used: number;
  /** Least and most in any 10 s over keys; null = below the quota. */
  readonly least: number | null;
  readonly most: number | null;
  /** Most beyond quota and one bucket in any span, in buckets. */
  readonly beyond: number;
  /** Refused ÷ wanted in the judged time; null = above the quota. */
  readonly refused: number | null;
  /** Records per node and minute beside signs of life. */
  readonly records: number;
}

export const KEY_SCENARIOS: readonly KeyScenario[] = [
  scenario('own-node', 'Each key at one of three nodes, at twice its quota.', { at: 'own' }),
  scenario('any-node', 'Each request at any of three nodes, at twice the quota.', {}),
  scenario('any-node-10x', 'The same at ten times the quota.', { demand: 10 }),
  scenario('any-of-20', 'Each request at any of twenty nodes, at twice the quota.', { nodes: 20, keys: 5 }),
  scenario('wakes-at-all', 'Each request at all of ten nodes at one instant, ten times the quota in all.', {
    nodes: 10,
    keys: 5,
    at: 'all',
    demand: 10,
  }),
  scenario('slow-topic', 'As any-node; a record takes 0.2 to 0.5 s.', {
    delays: { appendMs: [100, 250], deliveryMs: [100, 250] },
  }),
  scenario('node-dies', 'As any-node; one of the three nodes dies after 30 s.', { crashAtSec: 30 }),
  scenario('below', 'Each request at any of three nodes, at a tenth of the quota.', { keys: 200, demand: 0.1 }),
  scenario('below-of-20', 'The same at any of twenty nodes.', { keys: 200, demand: 0.1, nodes: 20 }),
  scenario('below-small', 'The same, and a bucket of 10 messages: too small to be spent in twenty parts.', {
    keys: 10,
    demand: 0.1,
    nodes: 20,
    depth: 10,
  }),
];

function scenario(name: string, says: string, others: Partial<KeyScenario>): KeyScenario {
  return { name, says, nodes: 3, keys: 20, demand: 2, at: 'any', depth: 60, ...others };
}

/** Plays a scenario once each node has its part of each bucket. */
export function playKeys(scenario: KeyScenario, seed: number): KeyFigures {
  const { nodes, keys, demand, at, depth, delays, crashAtSec } = scenario;
  const template = { quota: { publish: { messagesPerSecond: PER_SECOND } }, burst: { messages: depth } };
  const cluster = new KeyedCluster({ nodes, keys: { 'key:{id}': template }, seed, ...(delays && { delays }) });
  cluster.advance((1000 * depth) / PER_SECOND);
  const ledgers = Array.from({ length: keys }, () => new KeyLedger(depth));
  const alive = [...cluster.nodes];
  const ask = (key: number) => {
    const first = at === 'own' ? key % alive.length : Math.floor(cluster.random.next() * alive.length);
    for (let asked = 0; asked < (at === 'all' ? alive.length : 1); asked++) {
      const node = alive[(first + asked) % alive.length];
      ledgers[key].note(cluster.nowMs, node.ask(`key:${key}`, 1) !== 'refused');
    }
  };
  const perAsk = at === 'all' ? nodes : 1;
  const beganMs = cluster.nowMs;
  let owed = 0;
  for (let step = 0; step < PLAYED_MS / STEP_MS; step++) {
    if (crashAtSec !== undefined && step * STEP_MS === crashAtSec * 1000) alive.pop()?.node.crash();
    if (step * STEP_MS === PLAYED_MS - JUDGED_MS) cluster.countSent();
    owed += (keys * demand * PER_SECOND * STEP_MS) / 1000 / perAsk;
    for (; owed >= 1; owed--) ask(Math.floor(cluster.random.next() * keys));
    cluster.advance(STEP_MS);
  }
  const records = (cluster.countSent().reports * 60_000) / JUDGED_MS / nodes;
  return figuresOf(ledgers, beganMs + PLAYED_MS - JUDGED_MS, demand, records);
}

function figuresOf(ledgers: readonly KeyLedger[], judgedFromMs: number, demand: number, records: number): KeyFigures {
  const wanted = PER_SECOND * Math.min(1, demand);
  const judged = ledgers.map((ledger) => ledger.since(judgedFromMs));
  const spans = judged.flatMap(({ grantedMs }) => spansOf(grantedMs, judgedFromMs, judgedFromMs + JUDGED_MS));
  const sum = (amounts: readonly number[]) => amounts.reduce((total, amount) => total + amount, 0);
  const granted = sum(judged.map(({ grantedMs }) => grantedMs.length));
  const asked = sum(judged.map((one) => one.asked));
  const inSpan = (wanted * SPAN_MS) / 1000;
  return {
    first: sum(ledgers.map(({ firstGranted }) => firstGranted)) / sum(ledgers.map(({ firstAsked }) => firstAsked)),
    used: granted / ((ledgers.length * wanted * JUDGED_MS) / 1000),
    least: demand < 1 ? null : Math.min(...spans) / inSpan,
    most: demand < 1 ? null : Math.max(...spans) / inSpan,
    beyond: Math.max(...ledgers.map((ledger) => ledger.beyond)),
    refused: demand < 1 ? 1 - granted / asked : null,
    records,
  };
}

/** Returns grants in spans from every second. */
function spansOf(grantedMs: readonly number[], fromMs: number, toMs: number): number[] {
  const spans: number[] = [];
  for (let begin = fromMs; begin + SPAN_MS <= toMs; begin += 1000) {
    spans.push(grantedMs.filter((ms) => ms >= begin && ms < begin + SPAN_MS).length);
  }
  return spans;
}

class KeyLedger {
  firstAsked = 0;
  firstGranted = 0;
  /** Buckets beyond one. */
  beyond = 0;
  readonly #depth: number;
  readonly #askedMs: number[] = [];
  readonly #grantedMs: number[] = [];
  #excess = 0;
  #lastMs = 0;

  constructor(depth: number) {
    this.#depth = depth;
  }

  note(nowMs: number, isGranted: boolean): void {
    this.#askedMs.push(nowMs);
    if (this.firstAsked < this.#depth) {
      this.firstAsked++;
      if (isGranted) this.firstGranted++;
    }
    if (!isGranted) return;
    this.#grantedMs.push(nowMs);
    this.#excess = Math.max(0, this.#excess - (PER_SECOND * (nowMs - this.#lastMs)) / 1000) + 1;
    this.#lastMs = nowMs;
    this.beyond = Math.max(this.beyond, this.#excess / this.#depth - 1);
  }

  since(fromMs: number): { readonly asked: number; readonly grantedMs: readonly number[] } {
    const isLate = (ms: number) => ms >= fromMs;
    return { asked: this.#askedMs.filter(isLate).length, grantedMs: this.#grantedMs.filter(isLate) };
  }
}

/** 600 a minute. */
const PER_SECOND = 10;
const STEP_MS = 10;
const PLAYED_MS = 60_000;
const JUDGED_MS = 40_000;
const SPAN_MS = 10_000;
