import { Limiter } from '../../../src/core/limiter/limiter.js';
import type { ServingLoop } from '../../../src/core/machine/coordinator-view.js';
import { type EnforcerAnswer, Enforcers } from '../../../src/node/enforcers/enforcers.js';
import type { GroupTable } from '../../../src/node/groups/group-table.js';

export const LIMIT = 1000;
export const ROUND_MS = 50;
export const LANE = 0;

/** Lanes of 1,000 messages/s each, 100 deep, at a node that is alone; bytes are unlimited. */
export class EnforcerScene {
  nowMs = 0;
  readonly limiter: Limiter;
  readonly enforcers: Enforcers;
  readonly limits: { readonly applied: Float64Array; readonly depth: Float64Array };
  ready = true;
  /** The name of the lane's group. */
  group = 'orders';
  /** How often somebody has said that the lane is in use: once per report, and once per division. */
  served = 0;

  constructor(laneCount = 1) {
    const ofEach = (...values: readonly number[]) =>
      Float64Array.from({ length: 2 * laneCount }, (_, at) => values[at % 2]!);
    this.limits = { applied: ofEach(LIMIT, Number.POSITIVE_INFINITY), depth: ofEach(100, 1) };
    this.limiter = new Limiter(Math.max(2, laneCount));
    const lanes = new Map(Array.from({ length: laneCount }, (_, lane) => [lane, {}]));
    const loop = { coordinator: { lanes, shares: this.limits }, serve: () => this.served++ };
    Object.defineProperty(loop, 'isReady', { get: () => this.ready });
    const groups = { ofLane: () => ({ name: this.group, debtMs: 60_000, floorRatio: 0.06 }) };
    for (const lane of lanes.keys()) {
      this.limiter.validUntilMs.set(lane, Number.POSITIVE_INFINITY);
      this.limiter.setLimit(lane, 0, LIMIT, 100, 0);
      this.limiter.setLimit(lane, 1, Number.POSITIVE_INFINITY, 1, 0);
    }
    this.enforcers = new Enforcers({
      limiter: this.limiter,
      clock: () => this.nowMs,
      groups: groups as unknown as GroupTable,
      loop: loop as unknown as ServingLoop,
      shadows: { admittedElsewhere: () => false },
    });
  }

  report(
    enforcer: string,
    admitted: number,
    { isHeldBack = false, life = 1, bytes = 0, topics = 0, ...patience } = {} as Reporting,
  ) {
    const { lanes: inLanes = [LANE] } = patience;
    const lanes = inLanes.map((lane) => ({ lane, admitted: [admitted, bytes] as const, isHeldBack, topics }));
    const { seen = null, waitMs = 0, signal = new AbortController().signal } = patience;
    return this.enforcers.report({ enforcer, life, ttlMs: 3000, lanes }, { seen, waitMs, signal });
  }

  pass(ms: number): void {
    for (const endMs = this.nowMs + ms; this.nowMs < endMs; ) {
      this.nowMs += ROUND_MS;
      this.enforcers.keep(this.nowMs);
    }
  }

  get charged(): number {
    return this.limiter.admitted.at(0);
  }
}

export interface Reporting {
  readonly isHeldBack?: boolean;
  readonly bytes?: number;
  readonly topics?: number;
  readonly lanes?: readonly number[];
  readonly life?: number;
  readonly seen?: number | null;
  readonly waitMs?: number;
  readonly signal?: AbortSignal;
}

export const rateOf = ({ parts: [part] }: EnforcerAnswer) => (part?.isKnown ? part.rate[0] : null);

/** An enforcer that wants `wish`/s and admits as much of it as it is told to, and reports every 100 ms. */
export class Wanting {
  admitted = 0;
  rate = 0;

  wish: number;
  readonly scene: EnforcerScene;
  readonly name: string;

  constructor(scene: EnforcerScene, name: string, wish: number) {
    this.scene = scene;
    this.name = name;
    this.wish = wish;
  }

  async turn(): Promise<void> {
    const told = await this.scene.report(this.name, Math.floor(this.admitted), { isHeldBack: this.rate < this.wish });
    this.rate = rateOf(told) ?? 0;
    this.admitted += Math.min(this.wish, this.rate) / 10;
  }
}
