import { Random } from '../../sim/cluster/random.js';
import { FAULT_KINDS, FAULTS, type FaultKind } from './fault-table.js';

/** One fault of the plan. Times are milliseconds since the run began. */
export interface PlannedFault {
  readonly kind: FaultKind;
  readonly fromMs: number;
  /** When the remedy begins; `fromMs` for what happens at a moment. */
  readonly toMs: number;
  /** Index of the node, 0 to NODES − 1; null where no node is hit. */
  readonly node: number | null;
  readonly broker: number | null;
  /** The delay of a slow link, each way. */
  readonly delayMs: number | null;
}

/** Faults that may overlap, with a calm behind them in which the cluster has to become one again. */
export interface Round {
  readonly faults: readonly PlannedFault[];
  readonly fromMs: number;
  /** End of its calm: the next round begins here. */
  readonly toMs: number;
}

export const NODES = 5;
export const BROKERS = 3;

const FIRST_MS = 12_000;
/** Faults of one round begin within this time, so that most of them overlap. */
const SPREAD_MS = 6000;
const TOGETHER_MAX = 3;
/** The calm of a round: a broker needs some 5 s to be back, a node 1 s; then come the promised 5 s, and some quiet ones. */
const CALM_MS = { brokers: 17_000, others: 11_000 };
const DELAY_MS = [200, 1500] as const;

/** A pure function of the seed: a shorter run has the first part of a longer one. Rounds that would not end in time are left out. */
export function scheduleOf(seed: number, durationMs: number, kinds: readonly FaultKind[] = FAULT_KINDS): Round[] {
  const random = Random.stream(seed, 'chaos schedule');
  const deck = new Deck(kinds, random);
  const rounds: Round[] = [];
  for (let fromMs = FIRST_MS; ; ) {
    const round = roundAt(fromMs, deck, random);
    if (round.toMs > durationMs) return rounds;
    rounds.push(round);
    fromMs = round.toMs;
  }
}

function roundAt(fromMs: number, deck: Deck, random: Random): Round {
  const together = 1 + Math.floor(random.next() * TOGETHER_MAX);
  const faults: PlannedFault[] = [];
  for (const kind of deck.draw(together)) faults.push(planned(kind, fromMs, faults, random));
  faults.sort((one, other) => one.fromMs - other.fromMs);
  const endMs = Math.max(...faults.map(({ toMs }) => toMs));
  const hasBrokers = faults.some(({ kind }) => FAULTS[kind].excludes === 'brokers');
  return { faults, fromMs, toMs: endMs + (hasBrokers ? CALM_MS.brokers : CALM_MS.others) };
}

function planned(kind: FaultKind, roundMs: number, others: readonly PlannedFault[], random: Random): PlannedFault {
  const { lastsMs, hits } = FAULTS[kind];
  const fromMs = Math.round(roundMs + (others.length === 0 ? 0 : random.between(0, SPREAD_MS)));
  const toMs = Math.round(fromMs + random.between(...lastsMs));
  // A node has one fault at a time: two would have to be undone in the right order, and two nodes are the harder case.
  const taken = new Set(others.map(({ node }) => node));
  const free = Array.from({ length: NODES }, (_, index) => index).filter((index) => !taken.has(index));
  const node = free[Math.floor(random.next() * free.length)];
  const broker = Math.floor(random.next() * BROKERS);
  const delayMs = Math.round(random.between(...DELAY_MS));
  return {
    kind,
    fromMs,
    toMs,
    node: hits.startsWith('node') ? node : null,
    broker: hits.endsWith('broker') ? broker : null,
    delayMs: kind === 'link-delay' ? delayMs : null,
  };
}

/** Deals every kind once before any comes again. */
class Deck {
  readonly #kinds: readonly FaultKind[];
  readonly #random: Random;
  #cards: FaultKind[] = [];

  constructor(kinds: readonly FaultKind[], random: Random) {
    this.#kinds = kinds;
    this.#random = random;
  }

  /** Deals up to `count` kinds that go together; always the first. */
  draw(count: number): FaultKind[] {
    const drawn: FaultKind[] = [];
    while (drawn.length < count) {
      if (this.#cards.length === 0) this.#shuffle();
      const at = this.#cards.findIndex((kind) => goesWith(kind, drawn));
      if (at === -1) break;
      drawn.push(...this.#cards.splice(at, 1));
    }
    return drawn;
  }

  #shuffle(): void {
    this.#cards = [...this.#kinds];
    for (let at = this.#cards.length - 1; at > 0; at--) {
      const other = Math.floor(this.#random.next() * (at + 1));
      [this.#cards[at], this.#cards[other]] = [this.#cards[other], this.#cards[at]];
    }
  }
}

function goesWith(kind: FaultKind, drawn: readonly FaultKind[]): boolean {
  if (drawn.includes(kind)) return false;
  const { excludes, without = [] } = FAULTS[kind];
  return drawn.every((other) => {
    const isApart = without.includes(other) || (FAULTS[other].without ?? []).includes(kind);
    return !isApart && (excludes === undefined || FAULTS[other].excludes !== excludes);
  });
}
