import { backendIdOf } from '../../src/core/base/ids.js';
import type { GroupSettings } from '../../src/core/base/settings.js';
import { laneOf, MESSAGES, slotOf, UNLIMITED } from '../../src/core/base/vocabulary.js';
import { SmoothedRate } from '../../src/core/target/smoothed-rate.js';
import type { LaneTarget } from '../../src/core/target/target-book.js';
import type { SimulatedNode } from '../cluster/simulated-node.js';
import { World } from '../cluster/world.js';
import { GIVE_UP_SEC } from './target-fields.js';
import type {
  GroupQuota,
  MockBackend,
  MockClient,
  Phase,
  TargetExpectation,
  TargetScenario,
} from './target-scenario.js';

export interface PhaseOutcome {
  /** First of ten seconds in which all expectations held; −1 = none. */
  readonly settledSec: number;
  readonly lastedSec: number;
  /** True = targets fell by a full queue: nobody knows earlier. */
  readonly hadToFill: boolean;
  readonly reached: readonly number[];
}

/** State after one second; rates/s, Infinity = unlimited. */
export interface TargetSecond {
  readonly phase: number;
  readonly second: number;
  readonly groups: Readonly<
    Record<string, { readonly target: number; readonly admitted: number; readonly busy: boolean }>
  >;
  /** Queue's level ÷ its target. */
  readonly backends: Readonly<Record<string, number>>;
}

export function playTargetScenario(
  scenario: TargetScenario,
  strategy: string,
  seed = 1,
  onSecond: (second: TargetSecond) => void = () => undefined,
): readonly PhaseOutcome[] {
  const run = new TargetRun(scenario, strategy, seed);
  return scenario.phases.map((phase, at) => {
    return run.play(phase, (second) => onSecond({ phase: at + 1, second, ...run.look() }));
  });
}

/** Least rate and retry of FoundationDB's clients; ours come later on the limiter's word. */
const LEAST_TPS = 1;
const RETRY_MS = 20;
const CHECKS = 10;

interface Server {
  readonly mock: MockBackend;
  capacity: number;
  readonly served: SmoothedRate;
}

class TargetRun {
  readonly #world: World;
  readonly #names: readonly string[];
  readonly #servers: readonly Server[];
  readonly #clients: readonly { readonly client: MockClient; readonly node: SimulatedNode }[];
  /** Groups with a quota. */
  readonly #limited = new Set<string>();
  readonly #admitted = new Map<string, number>();

  constructor({ settings, groups, backends, clients }: TargetScenario, strategy: string, seed: number) {
    this.#names = groups.map(({ name }) => name);
    const [first] = settings.groups as readonly [GroupSettings];
    const none = { messages: Infinity, cost: Infinity, reservedCost: 0 };
    // Clients are paced by their share, and want no more until a refusal.
    const burst = { ...first.burst, start: 'empty' as const };
    const own = groups.map(({ name }) => groupOf({ ...first, name, strategy, burst }, { name, ...none }));
    this.#world = new World(seed, { ...settings, groups: own });
    this.#servers = backends.map((mock) => ({ mock, capacity: mock.capacity, served: new SmoothedRate() }));
    this.#clients = clients.map((client, at) => ({ client, node: this.#world.start(`client-${at + 1}`) }));
    for (const quota of groups) this.#setQuota(quota);
    for (const { client, node } of this.#clients) this.#drive(client, node);
    this.#watchServers();
  }

  play(phase: Phase, onSecond: (second: number) => void): PhaseOutcome {
    for (const quota of phase.groups) this.#setQuota(quota);
    for (const { name, capacity } of phase.backends) {
      for (const server of this.#servers) if (server.mock.name === name) server.capacity = capacity;
    }
    let [held, settledSec, hadToFill, lastedSec] = [0, -1, false, 0];
    const isOver = () =>
      phase.forSec === null ? settledSec > 0 || lastedSec >= GIVE_UP_SEC : lastedSec >= phase.forSec;
    while (!isOver()) {
      lastedSec++;
      this.#world.runFor(1000);
      onSecond(lastedSec);
      held = phase.expect.every((expectation) => this.#holds(expectation)) ? held + 1 : 0;
      if (held < CHECKS || settledSec > 0) continue;
      settledSec = lastedSec - CHECKS + 1;
      hadToFill = this.#names.some((name) => this.#targetOf(name).decision.isBusy);
    }
    return { settledSec, lastedSec, hadToFill, reached: phase.expect.map((one) => this.#observed(one)) };
  }

  look(): Pick<TargetSecond, 'groups' | 'backends'> {
    const groups = this.#names.map((name) => {
      const { target, isBusy } = this.#targetOf(name).decision;
      const admitted = this.#admitted.get(name) ?? 0;
      this.#admitted.set(name, 0);
      return [name, { target, admitted, busy: isBusy }] as const;
    });
    const backends = this.#servers.map((server) => [server.mock.name, this.#fullness(server)] as const);
    return { groups: Object.fromEntries(groups), backends: Object.fromEntries(backends) };
  }

  #drive({ group, wantedPerSecond, units, backends }: MockClient, node: SimulatedNode): void {
    const lane = laneOf(this.#names.indexOf(group), 0);
    const touched = this.#servers.filter(({ mock }) => backends.includes(mock.name));
    const { queue, settings } = this.#world;
    const own = touched.map(({ mock, served }) => ({ mock, served, id: backendIdOf(settings.cluster, mock.name) }));
    // As FoundationDB's clients: paced by the share, one at a time, held without a token.
    const waitMs = () => 1000 / Math.min(wantedPerSecond, Math.max(LEAST_TPS, shareOf(node, lane)));
    const transact = (retry: boolean) => {
      if (!node.tryAcquire(lane, 1, 0, retry)) return queue.after(RETRY_MS, () => transact(true));
      queue.after(waitMs(), () => transact(false));
      this.#admitted.set(group, (this.#admitted.get(group) ?? 0) + 1);
      own.forEach(({ mock, served, id }, at) => {
        served.count(units / own.length, queue.nowMs, mock.followsMs);
        node.coordinator.costs.report(lane, id, units / own.length, at === 0 ? 1 : 0, node.nowMs);
      });
    };
    queue.after(1000 / wantedPerSecond, () => transact(false));
  }

  #watchServers(): void {
    const { queue } = this.#world;
    const poller = this.#first;
    const poll = () => {
      queue.after(1000, poll);
      if (!poller.coordinator.isReady) return;
      for (const server of this.#servers) {
        const { name, zone, target, spring } = server.mock;
        const health = { kind: 'level', level: this.#fullness(server) * target, target, spring } as const;
        poller.step({ kind: 'backend-reported', backend: name, zone, health });
      }
    };
    queue.after(1000, poll);
  }

  #fullness({ mock, served, capacity }: Server): number {
    return served.rate(this.#world.queue.nowMs, mock.followsMs) / capacity;
  }

  #setQuota(quota: GroupQuota): void {
    if (quota.cost === Infinity && quota.messages === quota.cost) this.#limited.delete(quota.name);
    else this.#limited.add(quota.name);
    const group = this.#names.indexOf(quota.name);
    this.#world.changeGroup(group, groupOf(this.#world.settings.groups[group], quota));
  }

  #holds(expectation: TargetExpectation): boolean {
    const { value, tolerance } = expectation;
    const observed = this.#observed(expectation);
    return observed === value || Math.abs(observed - value) < tolerance * observed;
  }

  #observed({ what, group }: TargetExpectation): number {
    const name = group ?? '';
    const limited = this.#names.filter((one) => this.#limited.has(one));
    return {
      target: () => this.#targetOf(name).decision.target,
      perClient: () => this.#numberOf(name),
      targetSum: () => limited.reduce((sum, one) => sum + this.#targetOf(one).decision.target, 0),
      busyGroups: () => limited.filter((one) => this.#targetOf(one).decision.isBusy).length,
    }[what]();
  }

  get #first(): SimulatedNode {
    return this.#clients[0].node;
  }

  #targetOf(name: string): LaneTarget {
    const group = this.#names.indexOf(name);
    const { coordinator } = this.#first;
    const { groups } = this.#world.settings;
    const { mapLane } = coordinator.laneOf(coordinator.groupIdOf(group), 0);
    return coordinator.targets.decide(groups[group], 0, mapLane);
  }

  /** Returns the number that trims the busy: their share, or the target where nobody is. */
  #numberOf(name: string): number {
    const lane = laneOf(this.#names.indexOf(name), 0);
    const shares = this.#clients.flatMap(({ client, node }) => {
      const share = shareOf(node, lane);
      return client.group === name && share < client.wantedPerSecond ? [share] : [];
    });
    return shares.length > 0 ? Math.max(...shares) : this.#targetOf(name).decision.target;
  }
}

function shareOf({ coordinator }: SimulatedNode, lane: number): number {
  return coordinator.shares.applied[slotOf(lane, MESSAGES)];
}

function groupOf(group: GroupSettings, { messages, cost, reservedCost }: GroupQuota): GroupSettings {
  const none = { total: Infinity, reserved: 0 };
  const quota = { publish: [messages, Infinity] as const, dispatch: UNLIMITED };
  return { ...group, quota, cost: { publish: { total: cost, reserved: reservedCost }, dispatch: none } };
}
