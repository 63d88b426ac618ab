import { type Baseline, type BaselineEnvironment, type Quota, rateOf } from './baseline.js';
import { BaselineCluster, type Member } from './baseline-cluster.js';
import { MessageBus } from './message-bus.js';
import { PlainLimiter } from './plain-limiter.js';
import type { SimulatedProcess } from './simulated-process.js';

/** Milliseconds in rateguard: it gossips every 200, and drops a silent node after about 6,000. */
const GOSSIP_MS = 200;
const GONE_AFTER_MS = 6000;
/** Datagrams per period. The source has one or two; we take two, in its favour. */
const DATAGRAMS = 2;
/**
 * Part of quota ÷ nodes that each keeps, by the source: shares of 643 and 4 × 89 of 1000 at demands 1200 and 4 × 150;
 * 960 when one of five is busy.
 */
const FLOOR_RATIO = 0.05;
/** Periods that demand is averaged over. The sources name none; five halve the noise. */
const DEMAND_PERIODS = 5;
/**
 * Bytes by the source's 350 to 700 KB/s of 50 nodes: two datagrams of 50 entries of 20 bytes per period;
 * headers of UDP and IP have 28.
 */
const HEADER_BYTES = 28;
const ENTRY_BYTES = 20;

/** Divides the quota by rateguard's rule. Each part of a divided network takes all of it. */
export const DEMAND_PROPORTIONAL: Baseline = {
  name: 'demand-proportional',
  says: "rateguard's rule: a floor of 5 % of the equal share, the rest by demand, gossip every 200 ms",
  create: (environment) => {
    const bus = new MessageBus<Gossip>(environment, false);
    return new BaselineCluster('demand-proportional', environment, bus, (process, quota) => {
      return new GossipingNode(process, quota, bus, environment);
    });
  },
};

/** Returns floor + (quota − Σ floors) · demand ÷ Σ demand; equal without demand. */
export function demandShare(quota: number, own: number, total: number, nodes: number): number {
  if (quota === Infinity) return quota;
  if (total === 0) return quota / nodes;
  const floor = (FLOOR_RATIO * quota) / nodes;
  return floor + ((quota - nodes * floor) * own) / total;
}

interface Entry {
  readonly node: string;
  /** Rises with each period; of one life the larger wins, and `startedMs` orders lives. */
  readonly startedMs: number;
  readonly sequence: number;
  readonly demand: readonly [number, number];
  readonly isLeaving: boolean;
}

type Gossip = readonly Entry[];

class GossipingNode implements Member<Gossip> {
  readonly #process: SimulatedProcess;
  readonly #bus: MessageBus<Gossip>;
  readonly #environment: BaselineEnvironment;
  readonly #limiter = new PlainLimiter();
  readonly #startedMs: number;
  /** Holds the entry of each node, and when it last changed. */
  readonly #entries = new Map<string, { readonly entry: Entry; readonly heardMs: number }>();
  readonly #arrived: [number, number][] = [[0, 0]];
  #sequence = 0;
  #quota: Quota;

  constructor(process: SimulatedProcess, quota: Quota, bus: MessageBus<Gossip>, environment: BaselineEnvironment) {
    this.#process = process;
    this.#bus = bus;
    this.#environment = environment;
    this.#startedMs = process.nowMs;
    this.#quota = quota;
    this.#note(this.#ownEntry(false));
    this.#setLimits();
    process.every(GOSSIP_MS, environment.random.between(0, GOSSIP_MS), () => this.#gossip());
  }

  /** Counts first attempts as demand, refused or not. */
  tryAcquire(messages: number, bytes: number, retry: boolean): boolean {
    const arrived = this.#arrived.at(-1) as [number, number];
    if (!retry) {
      arrived[0] += messages;
      arrived[1] += bytes;
    }
    return this.#limiter.tryAcquire(messages, bytes, retry, this.#process.nowMs);
  }

  limitOf(dimension: 0 | 1): number {
    return this.#limiter.rate(dimension);
  }

  receive(gossip: Gossip): void {
    for (const entry of gossip) if (entry.node !== this.#process.node) this.#note(entry);
    this.#setLimits();
  }

  leave(): void {
    this.#sequence++;
    this.#note(this.#ownEntry(true));
    for (const { node } of this.#live()) this.#tell(node);
  }

  setQuota(quota: Quota): void {
    this.#quota = quota;
    this.#setLimits();
  }

  #gossip(): void {
    this.#sequence++;
    this.#note(this.#ownEntry(false));
    this.#arrived.push([0, 0]);
    if (this.#arrived.length > DEMAND_PERIODS) this.#arrived.shift();
    this.#setLimits();
    const peers = this.#bus.addresses.filter((address) => address !== this.#process.node);
    for (let datagram = 0; datagram < DATAGRAMS && peers.length > 0; datagram++) {
      const at = Math.floor(this.#environment.random.between(0, peers.length));
      for (const peer of peers.splice(at, 1)) this.#tell(peer);
    }
  }

  #tell(peer: string): void {
    const entries = [...this.#entries.values()].map(({ entry }) => entry);
    this.#bus.send(this.#process.node, peer, entries, HEADER_BYTES + ENTRY_BYTES * entries.length);
  }

  #note(entry: Entry): void {
    const known = this.#entries.get(entry.node)?.entry;
    if (known !== undefined && !isNewer(entry, known)) return;
    this.#entries.set(entry.node, { entry, heardMs: this.#process.nowMs });
  }

  #ownEntry(isLeaving: boolean): Entry {
    const sum = (dimension: 0 | 1) => this.#arrived.reduce((total, arrived) => total + arrived[dimension], 0);
    const seconds = (this.#arrived.length * GOSSIP_MS) / 1000;
    return {
      node: this.#process.node,
      startedMs: this.#startedMs,
      sequence: this.#sequence,
      isLeaving,
      demand: [sum(0) / seconds, sum(1) / seconds],
    };
  }

  #live(): Entry[] {
    const sinceMs = this.#process.nowMs - GONE_AFTER_MS;
    return [...this.#entries.values()].flatMap(({ entry, heardMs }) =>
      entry.isLeaving || heardMs < sinceMs ? [] : [entry],
    );
  }

  #setLimits(): void {
    const live = this.#live();
    const rates = { messagesPerSecond: this.#shareOf(0, live), bytesPerSecond: this.#shareOf(1, live) };
    this.#limiter.setRates(rates, this.#process.nowMs);
  }

  /**
   * Returns the share. A newcomer counts the configured nodes until it could know who is gone, and takes the equal
   * share until its demand is measured: the sources name no rule, and this avoids N quotas at a cold start.
   */
  #shareOf(dimension: 0 | 1, live: readonly Entry[]): number {
    const quota = rateOf(this.#quota, dimension);
    const ageMs = this.#process.nowMs - this.#startedMs;
    const nodes = ageMs < GONE_AFTER_MS ? Math.max(live.length, this.#environment.nodes) : live.length;
    if (ageMs < DEMAND_PERIODS * GOSSIP_MS) return demandShare(quota, 0, 0, nodes);
    const own = this.#entries.get(this.#process.node)?.entry.demand[dimension] ?? 0;
    const total = live.reduce((sum, { demand }) => sum + demand[dimension], 0);
    return demandShare(quota, own, total, nodes);
  }
}

function isNewer(entry: Entry, known: Entry): boolean {
  if (entry.startedMs !== known.startedMs) return entry.startedMs > known.startedMs;
  return entry.sequence > known.sequence;
}
