import { backendIdOf, groupIdOf } from '../../src/core/ids.js';
import type { GroupSettings } from '../../src/core/settings.js';
import { costUnits } from '../../src/core/target/cost-units.js';
import { SmoothedRate } from '../../src/core/target/smoothed-rate.js';
import type { LaneTarget } from '../../src/core/target/target-book.js';
import { laneOf, MESSAGES, slotOf, UNLIMITED } from '../../src/core/vocabulary.js';
import { defaultSettings } from '../scenario/world-settings.js';
import type { SimulatedNode } from '../simulated-node.js';
import { World } from '../world.js';
import type { Client, EquilibriumCase, Expectation, Phase, TagQuota } from './target-scenario.js';

/** What became of one phase. */
export interface PhaseOutcome {
  /** First second of ten in which all expectations held; −1 = not within ten minutes. */
  readonly settledSec: number;
  /** Targets had to fall because a queue had grown: it must fill first, and nobody can know earlier. */
  readonly hadToFill: boolean;
}

/**
 * Plays a scenario on the production core, nodes, topic and limiters included. Every client is a node, paced by its
 * share; what its limiter admits wears the backends down and reports its cost. One node reads the backends' queues once
 * a second, as the poller does.
 */
export function playTargetScenario(scenario: EquilibriumCase, strategy: string, seed = 1): readonly PhaseOutcome[] {
  const run = new TargetRun(scenario, strategy, seed);
  return scenario.phases.map((phase) => run.settle(phase));
}

const PAGE_BYTES = 4096;
const FACTORS = { readPageBytes: PAGE_BYTES, writePageBytes: PAGE_BYTES, writeFactor: 4 };
const QUEUE = { target: 800_000_000, spring: 200_000_000 };
const QUEUE_SMOOTHING_MS = 10_000;
/** Of the source's clients; ours come back later where their limiter says so. */
const LEAST_TPS = 1;
const RETRY_MS = 20;
const CHECKS = 10;
const DEADLINE_SEC = 600;
/** The vectors' own: |observed − expected| < tolerance × observed. */
const TOLERANCE = 0.1;

interface MockServer {
  readonly name: string;
  capacity: number;
  readonly served: SmoothedRate;
}

class TargetRun {
  readonly #world: World;
  readonly #tags: readonly string[];
  readonly #servers: readonly MockServer[];
  readonly #clients: readonly { readonly client: Client; readonly node: SimulatedNode }[];
  readonly #limited = new Set<string>();

  constructor(scenario: EquilibriumCase, strategy: string, seed: number) {
    const { servers, quotas, clients, worstZonesIgnored: zonesLeftOut, generation } = scenario;
    const defaults = defaultSettings();
    this.#tags = [...new Set([...quotas, ...clients].map(({ tag }) => tag))];
    const groups = this.#tags.map((name) =>
      groupOf({ ...(defaults.groups[0] as GroupSettings), name, strategy }, null),
    );
    const split = generation === '7.3' ? 'by-quota' : 'by-usage';
    const limiting = { ...defaults.limiting, split, zonesLeftOut } as const;
    this.#world = new World(seed, { ...defaults, limiting, groups });
    this.#servers = Array.from({ length: servers.count }, (_, at) => {
      const { capacityPagesPerSec: capacity } = servers.exceptions?.find(({ server }) => server === at) ?? servers;
      return { name: `server-${at}`, capacity, served: new SmoothedRate() };
    });
    this.#clients = clients.map((client, at) => ({ client, node: this.#world.start(`client-${at + 1}`) }));
    for (const quota of quotas) this.#setQuota(quota);
    for (const { client, node } of this.#clients) this.#drive(client, node);
    this.#watchServers();
  }

  settle(phase: Phase): PhaseOutcome {
    for (const quota of phase.change?.quotas ?? []) this.#setQuota(quota);
    for (const tag of phase.change?.removeQuotas ?? []) this.#removeQuota(tag);
    for (const { server, capacityPagesPerSec } of phase.change?.servers ?? []) {
      (this.#servers[server] as MockServer).capacity = capacityPagesPerSec;
    }
    let held = 0;
    for (let second = 1; second <= DEADLINE_SEC; second++) {
      this.#world.runFor(1000);
      held = phase.expect.every((expectation) => this.#holds(expectation)) ? held + 1 : 0;
      if (held < CHECKS) continue;
      return {
        settledSec: second - CHECKS + 1,
        hadToFill: this.#tags.some((tag) => this.#targetOf(tag).decision.isBusy),
      };
    }
    return { settledSec: -1, hadToFill: false };
  }

  #drive({ tag, wantedTps, pagesPerTx, op, servers }: Client, node: SimulatedNode): void {
    const lane = laneOf(this.#tags.indexOf(tag), 0);
    const bytes = pagesPerTx * PAGE_BYTES;
    const units = costUnits(op === 'read' ? { readBytes: bytes } : { writtenBytes: bytes }, FACTORS);
    const touched = this.#servers.filter((_, at) => servers === 'all' || servers.includes(at));
    const { queue, settings } = this.#world;
    // As the vectors' own clients: paced by the share, one transaction at a time; held back where there is no token.
    const waitMs = () => 1000 / Math.min(wantedTps, Math.max(LEAST_TPS, shareOf(node, lane)));
    const transact = (retry: boolean) => {
      if (!node.tryAcquire(lane, 1, 0, retry)) return queue.after(RETRY_MS, () => transact(true));
      queue.after(waitMs(), () => transact(false));
      touched.forEach(({ name, served }, at) => {
        served.count(units / touched.length, queue.nowMs, QUEUE_SMOOTHING_MS);
        const backend = backendIdOf(settings.cluster, name);
        node.coordinator.costs.report(lane, backend, units / touched.length, at === 0 ? 1 : 0, node.nowMs);
      });
    };
    queue.after(1000 / wantedTps, () => transact(false));
  }

  #watchServers(): void {
    const { queue } = this.#world;
    const poller = this.#first;
    const poll = () => {
      queue.after(1000, poll);
      if (!poller.coordinator.isReady) return;
      for (const { name, capacity, served } of this.#servers) {
        const level = (served.rate(queue.nowMs, QUEUE_SMOOTHING_MS) / capacity) * QUEUE.target;
        poller.step({
          kind: 'backend-reported',
          backend: name,
          zone: name,
          health: { kind: 'level', level, ...QUEUE },
        });
      }
    };
    queue.after(1000, poll);
  }

  #setQuota(quota: TagQuota): void {
    this.#limited.add(quota.tag);
    this.#change(quota.tag, quota);
  }

  #removeQuota(tag: string): void {
    this.#limited.delete(tag);
    this.#change(tag, null);
  }

  #change(tag: string, quota: TagQuota | null): void {
    const group = this.#tags.indexOf(tag);
    this.#world.changeGroup(group, groupOf(this.#world.settings.groups[group] as GroupSettings, quota));
  }

  #holds({ metric, tag = '', value, exact = false }: Expectation): boolean {
    const limited = this.#tags.filter((name) => this.#limited.has(name));
    if (value === null) return this.#targetOf(tag).decision.target === Number.POSITIVE_INFINITY;
    const observed = {
      targetTps: () => this.#targetOf(tag).decision.target,
      perClientTps: () => this.#numberOf(tag),
      sumOfTargetTps: () => limited.reduce((sum, name) => sum + this.#targetOf(name).decision.target, 0),
      busyTags: () => limited.filter((name) => this.#targetOf(name).decision.isBusy).length,
    }[metric]();
    return exact ? observed === value : Math.abs(observed - value) < TOLERANCE * observed;
  }

  get #first(): SimulatedNode {
    return (this.#clients[0] as { readonly node: SimulatedNode }).node;
  }

  /** As the first node computes it from the log. */
  #targetOf(tag: string): LaneTarget {
    const group = this.#tags.indexOf(tag);
    const { coordinator } = this.#first;
    const { cluster, groups } = this.#world.settings;
    const mapLane = coordinator.usageMap.mapLaneOf(groupIdOf(cluster, tag), 0);
    return coordinator.targets.decide(groups[group] as GroupSettings, 0, mapLane);
  }

  /**
   * The number that trims the busy and leaves the quiet alone: the share of those who want more than it, or the target
   * where nobody does. FoundationDB tells it to everybody; here Σ shares ≤ target, and the quiet hold what they want.
   */
  #numberOf(tag: string): number {
    const lane = laneOf(this.#tags.indexOf(tag), 0);
    const own = this.#clients.filter(({ client }) => client.tag === tag);
    const shares = own.flatMap(({ client, node }) => {
      const share = shareOf(node, lane);
      return share < client.wantedTps ? [share] : [];
    });
    return shares.length > 0 ? Math.max(...shares) : this.#targetOf(tag).decision.target;
  }
}

function shareOf({ coordinator }: SimulatedNode, lane: number): number {
  return coordinator.shares.applied[slotOf(lane, MESSAGES)] as number;
}

function groupOf(group: GroupSettings, quota: TagQuota | null): GroupSettings {
  const none = { total: Number.POSITIVE_INFINITY, reserved: 0 };
  const publish = quota === null ? none : { total: quota.totalPagesPerSec, reserved: quota.reservedPagesPerSec };
  return { ...group, quota: { publish: UNLIMITED, dispatch: UNLIMITED }, cost: { publish, dispatch: none } };
}
