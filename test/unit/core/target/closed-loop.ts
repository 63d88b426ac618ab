import type { LaneCosts } from '../../../../src/core/base/protocol/record.js';
import type { LimitingSplit } from '../../../../src/core/base/settings.js';
import { CostMeter, sumOfCosts } from '../../../../src/core/target/cost-meter.js';
import { costUnits } from '../../../../src/core/target/cost-units.js';
import { bearableRate } from '../../../../src/core/target/limiting-rate.js';
import { SmoothedRate } from '../../../../src/core/target/smoothed-rate.js';
import { createDecision, decideTarget, type TargetDecision } from '../../../../src/core/target/target-rate.js';
import { throttlingRatio } from '../../../../src/core/target/throttling-ratio.js';
import { WorstZones } from '../../../../src/core/target/worst-zones.js';
import { wideId } from '../../../wide-ids.js';
import type { Client, EquilibriumCase, Expectation, Phase, TagQuota } from './gtt-vectors.js';

const PAGE_BYTES = 4096;
const FACTORS = { readPageBytes: PAGE_BYTES, writePageBytes: PAGE_BYTES, writeFactor: 4 };
const SMOOTHING_MS = 10_000;
const QUEUE_TARGET_BYTES = 800_000_000;
const QUEUE_SPRING_BYTES = 200_000_000;
const CONTRIBUTION_RATIO = 0.01;
const MIN_CLIENT_TPS = 1;
const CHECKS = 10;
const DEADLINE_SEC = 600;

/** One tag's clients: all get the same number, so that their sum meets the target (`handOut.client`). */
interface Tag {
  readonly lane: number;
  quota: TagQuota | null;
  readonly decision: TargetDecision;
  perClientTps: number;
}

interface MockServer {
  capacity: number;
  readonly served: SmoothedRate;
}

/**
 * Mock servers and clients around the stage under test, as `model` in the vectors describes them: the stage's own
 * figures (costs, average, ratio, limiting, target) are those of src/core/target, nothing of it is computed here.
 */
export class ClosedLoop {
  #nowMs = 0;
  readonly #meter = new CostMeter({ smoothingMs: SMOOTHING_MS, forgetAfterMs: 240_000, maxLanes: 10, sampleUnits: 0 });
  readonly #servers: MockServer[];
  readonly #tags = new Map<string, Tag>();
  readonly #clients: { readonly client: Client; nextMs: number }[];
  readonly #zones = new WorstZones();
  readonly #leaveOut: number;
  readonly #split: LimitingSplit;

  constructor({ servers, quotas, clients, worstZonesIgnored, generation }: EquilibriumCase) {
    this.#split = generation === '7.3' ? 'by-quota' : 'by-usage';
    this.#leaveOut = worstZonesIgnored;
    this.#servers = Array.from({ length: servers.count }, (_, at) => {
      const exception = servers.exceptions?.find(({ server }) => server === at);
      return { capacity: (exception ?? servers).capacityPagesPerSec, served: new SmoothedRate() };
    });
    for (const quota of quotas) this.#tag(quota.tag).quota = quota;
    this.#clients = clients.map((client) => ({ client, nextMs: 0 }));
    for (const one of this.#clients) one.nextMs = this.#waitMs(one.client);
  }

  /** The first second of ten in which all expectations hold, counted from the phase's start; −1 = not in time. */
  settle(phase: Phase): number {
    const startMs = this.#nowMs;
    this.#apply(phase);
    let held = 0;
    for (let second = 1; second <= DEADLINE_SEC; second++) {
      this.#runUntil(startMs + second * 1000);
      this.#decideAll();
      held = phase.expect.every((expectation) => this.#holds(expectation)) ? held + 1 : 0;
      if (held === CHECKS) return second - CHECKS + 1;
    }
    return -1;
  }

  #apply({ change = {} }: Phase): void {
    for (const quota of change.quotas ?? []) this.#tag(quota.tag).quota = quota;
    for (const tag of change.removeQuotas ?? []) this.#tag(tag).quota = null;
    for (const { server, capacityPagesPerSec } of change.servers ?? []) {
      this.#servers[server].capacity = capacityPagesPerSec;
    }
  }

  #runUntil(endMs: number): void {
    for (;;) {
      const next = this.#clients.reduce((first, one) => (one.nextMs < first.nextMs ? one : first));
      if (next.nextMs > endMs) break;
      this.#nowMs = next.nextMs;
      this.#transact(next.client);
      next.nextMs += this.#waitMs(next.client);
    }
    this.#nowMs = endMs;
  }

  #transact({ tag, pagesPerTx, op, servers }: Client): void {
    const bytes = pagesPerTx * PAGE_BYTES;
    const units = costUnits(op === 'read' ? { readBytes: bytes } : { writtenBytes: bytes }, FACTORS);
    const touched = servers === 'all' ? this.#servers.map((_, at) => at) : servers;
    touched.forEach((server, at) => {
      const part = units / touched.length;
      this.#servers[server].served.count(part, this.#nowMs, SMOOTHING_MS);
      this.#meter.report(this.#tag(tag).lane, wideId(server + 1), part, at === 0 ? 1 : 0, this.#nowMs);
    });
  }

  #waitMs({ tag, wantedTps }: Client): number {
    return 1000 / Math.min(wantedTps, this.#tag(tag).perClientTps);
  }

  #decideAll(): void {
    for (const tag of this.#tags.values()) {
      if (tag.quota === null) tag.perClientTps = Infinity;
      else this.#decide(tag, tag.quota);
    }
  }

  #decide(tag: Tag, quota: TagQuota): void {
    const costs = this.#meter.costsOf(tag.lane, this.#nowMs) ?? { transactions: 0, backends: [] };
    const { transactions } = costs;
    const inputs = {
      quotaMessages: Infinity,
      totalCost: quota.totalPagesPerSec,
      reservedCost: quota.reservedPagesPerSec,
      expectedCost: 1,
      transactions,
      cost: sumOfCosts(costs),
      bearable: this.#bearable(quota, costs),
      minimumRatio: 0.001,
    };
    decideTarget(inputs, tag.decision);
    tag.perClientTps = Math.max(MIN_CLIENT_TPS, this.#levelOf(tag));
  }

  /** The number at which Σ min(number, wanted) is the target: what client mode moves to, here at once. */
  #levelOf({ lane, decision: { target } }: Tag): number {
    const wanted = this.#clients.flatMap(({ client }) =>
      this.#tag(client.tag).lane === lane ? [client.wantedTps] : [],
    );
    wanted.sort((one, other) => one - other);
    let left = target;
    for (const [at, least] of wanted.entries()) {
      const level = left / (wanted.length - at);
      if (least >= level) return level;
      left -= least;
    }
    return target;
  }

  #bearable(quota: TagQuota, costs: LaneCosts): number {
    const { transactions } = costs;
    this.#zones.begin();
    for (const { backend, cost } of costs.backends) {
      if (cost < CONTRIBUTION_RATIO * sumOfCosts(costs)) continue;
      const { capacity, served } = this.#serverOf(backend);
      const level = (served.rate(this.#nowMs, SMOOTHING_MS) / capacity) * QUEUE_TARGET_BYTES;
      const health = { kind: 'level', level, target: QUEUE_TARGET_BYTES, spring: QUEUE_SPRING_BYTES } as const;
      const onBackend = { ...this.#allOn(backend), cost, transactions, quota: quota.totalPagesPerSec };
      const limit = bearableRate(this.#split, { ...onBackend, ratio: throttlingRatio(health) });
      this.#zones.add(`zone-${backend}`, backend, limit);
    }
    return this.#zones.deciding(this.#leaveOut)?.limit ?? Infinity;
  }

  #serverOf(backend: string): MockServer {
    return this.#servers.find((_, at) => wideId(at + 1) === backend) as MockServer;
  }

  #allOn(server: string): { costOfAll: number; quotaOfAll: number } {
    let [costOfAll, quotaOfAll] = [0, 0];
    for (const { lane, quota } of this.#tags.values()) {
      const on = this.#meter.costsOf(lane, this.#nowMs)?.backends.find(({ backend }) => backend === server);
      if (on === undefined || quota === null) continue;
      costOfAll += on.cost;
      quotaOfAll += quota.totalPagesPerSec;
    }
    return { costOfAll, quotaOfAll };
  }

  #holds({ metric, tag: name = '', value, exact = false }: Expectation): boolean {
    const tags = [...this.#tags.values()].filter(({ quota }) => quota !== null);
    const tag = this.#tag(name);
    if (value === null) return tag.quota === null;
    const observed = {
      targetTps: tag.quota === null ? Number.NaN : tag.decision.target,
      perClientTps: tag.perClientTps,
      sumOfTargetTps: tags.reduce((sum, { decision }) => sum + decision.target, 0),
      busyTags: tags.filter(({ decision }) => decision.isBusy).length,
    }[metric];
    if (observed === undefined) throw new Error(`unknown metric ${metric}`);
    return exact ? observed === value : Math.abs(observed - value) < 0.1 * observed;
  }

  #tag(name: string): Tag {
    let tag = this.#tags.get(name);
    if (tag === undefined) {
      const perClientTps = Infinity;
      tag = { lane: this.#tags.size, quota: null, decision: createDecision(), perClientTps };
      if (name !== '') this.#tags.set(name, tag);
    }
    return tag;
  }
}
