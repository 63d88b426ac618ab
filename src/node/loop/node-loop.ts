import { randomInt } from 'node:crypto';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Clock } from '../../base/ports/clock.js';
import type { ReportTopic } from '../../base/ports/report-topic.js';
import type { Telemetry } from '../../base/ports/telemetry.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { Append, CoordinatorEvent, Fenced } from '../../core/base/protocol/events-and-effects.js';
import { DIRECTION_COUNT } from '../../core/base/vocabulary.js';
import type { Limiter } from '../../core/limiter/limiter.js';
import { Coordinator } from '../../core/machine/coordinator.js';
import type { ServingLoop } from '../../core/machine/coordinator-view.js';
import { enforce } from '../../core/machine/enforce.js';
import type { GroupTable } from '../groups/group-table.js';
import { Announcements, announceShares } from './announce.js';
import { RebalancingWatch } from './rebalancing-watch.js';
import type { WakingClock } from './waking-clock.js';

interface NodeLoopParts {
  readonly config: ResolvedConfig;
  readonly version: string;
  readonly nonce: number;
  readonly clock: Clock;
  readonly wakingClock: WakingClock | null;
  readonly topic: Pick<ReportTopic, 'partitions'>;
  readonly groups: GroupTable;
  readonly limiter: Limiter;
  readonly telemetry: Telemetry;
  /** NOT_READY with the present reasons. */
  readonly notReady: () => QuotameshError;
  readonly outlets: LoopOutlets;
}

interface Waiting {
  resolve(): void;
  reject(error: QuotameshError): void;
}

/** Effects of steps in rooms that the loop does not know. */
interface LoopOutlets {
  send(appends: readonly Append[]): void;
  /** True = the lane needs no share, because nothing limits it. */
  isFree(lane: number): boolean;
  /** True = a strict bucket keeps the lane, not the limiter. */
  isStrict(lane: number): boolean;
  /** Called when the limiter has new limits for these lanes. */
  limitsChanged(lanes: Iterable<number>): void;
  /** Called when the node begins to decide. */
  becameReady(): void;
  /** Called within each round, as a part of its time. */
  keep(nowMs: number): void;
  afterRound(nowMs: number): void;
  /** Called once: the node has stopped deciding for good. */
  fenced(error: QuotameshError): void;
}

/**
 * Drives the coordinator by a timer. Events come in by `step`, on turns of the event loop; effects are enforced, sent,
 * announced, and given to the outlets.
 */
export class NodeLoop implements ServingLoop {
  /** Rounds, and their milliseconds in all. */
  readonly rounds = { count: 0, totalMs: 0 };
  readonly rebalancing = new RebalancingWatch();
  readonly #parts: NodeLoopParts;
  readonly #announcements: Announcements;
  #coordinator: Coordinator | null = null;
  #timer: NodeJS.Timeout | null = null;
  #intervalMs = 0;
  readonly #waiting: Waiting[] = [];
  #endedBy: QuotameshError | null = null;

  constructor(parts: NodeLoopParts) {
    this.#parts = parts;
    this.#announcements = new Announcements(parts.telemetry);
  }

  get coordinator(): Coordinator | null {
    return this.#coordinator;
  }

  get isReady(): boolean {
    return this.#coordinator?.isReady ?? false;
  }

  /** Names why the node has stopped deciding for good. */
  get endedBy(): QuotameshError | null {
    return this.#endedBy;
  }

  start(): void {
    this.#pace(this.#parts.config.sampleIntervalMs);
  }

  /** Ends the rounds; steps are still taken. */
  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Resolves when the node decides; rejects after `timeoutMs`, or when it never will. */
  async ready(timeoutMs: number): Promise<void> {
    if (this.isReady) return;
    if (this.#endedBy !== null) throw this.#endedBy;
    let timer: NodeJS.Timeout | undefined;
    const decided = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      timer = setTimeout(() => reject(this.#parts.notReady()), timeoutMs);
    });
    await decided.finally(() => clearTimeout(timer));
  }

  serve(lane: number): void {
    const coordinator = this.#coordinator;
    if (coordinator === null || coordinator.lanes.has(lane)) return;
    const { config, clock, groups, limiter, outlets } = this.#parts;
    if (!groups.isLive(Math.floor(lane / DIRECTION_COUNT))) return;
    // No share limits it: node/strict does.
    if (outlets.isStrict(lane)) return;
    if (outlets.isFree(lane)) {
      limiter.open(lane, clock());
      return;
    }
    this.step({ kind: 'lane-served', lane });
    if (this.#timer !== null) this.#pace(config.sampleIntervalMs);
    limiter.accrueSince(lane, coordinator.readyMs);
  }

  unpublishedCharged(lane: number): void {
    this.step({ kind: 'unpublished-charged', lane });
  }

  step(event: CoordinatorEvent): void {
    const { clock, wakingClock, limiter, telemetry, outlets } = this.#parts;
    this.#coordinator ??= createCoordinator(this.#parts);
    const coordinator = this.#coordinator;
    wakingClock?.look();
    const nowMs = clock();
    const wasReady = coordinator.isReady;
    const effects = coordinator.step(event, nowMs);
    enforce(effects, coordinator, limiter, nowMs);
    outlets.send(effects.appends);
    this.#announcements.tell(effects.notices, nowMs);
    if (effects.decidedLanes.length > 0) {
      this.rebalancing.sharesMoved(effects.decidedLanes, coordinator, nowMs);
      announceShares(effects.decidedLanes, coordinator, telemetry);
    }
    outlets.limitsChanged(effects.changedLanes);
    if (!wasReady && coordinator.isReady) {
      for (const { resolve } of this.#waiting.splice(0)) resolve();
      outlets.becameReady();
    }
    if (coordinator.endedBy !== null) this.#fence(coordinator.endedBy);
  }

  #round(): void {
    if (this.#timer === null) return;
    const { config, clock, outlets } = this.#parts;
    const before = clock();
    this.step({ kind: 'round-elapsed' });
    outlets.keep(before);
    this.rounds.count++;
    this.rounds.totalMs += clock() - before;
    outlets.afterRound(before);
    // Serving nobody, rounds only beat and watch the link; the first lane served ends the rest.
    const isAtRest = this.isReady && this.#coordinator?.lanes.size === 0;
    if (this.#timer !== null) this.#pace(isAtRest ? restIntervalMs(config) : config.sampleIntervalMs);
  }

  #pace(intervalMs: number): void {
    if (this.#timer !== null && this.#intervalMs === intervalMs) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#intervalMs = intervalMs;
    // After requests waiting in sockets: a late round before them would report a lull (docs/decisions/0009).
    this.#timer = setInterval(() => setImmediate(() => this.#round()), intervalMs);
  }

  #fence(why: Fenced): void {
    if (this.#timer === null) return;
    this.stop();
    const { config, telemetry, outlets } = this.#parts;
    const error = fencedError(config.nodeId, why);
    telemetry.log('error', error.message, { code: error.code, remedy: error.remedy });
    this.#endedBy = error;
    for (const { reject } of this.#waiting.splice(0)) reject(error);
    outlets.fenced(error);
  }
}

/** Creates the coordinator. The topic is open, and has its number of partitions. */
function createCoordinator({ config, version, nonce, topic, groups, limiter }: NodeLoopParts): Coordinator {
  const { cluster, nodeId, timing, sampleIntervalMs, limiting, costs, limits } = config;
  const coordinator = new Coordinator(
    {
      ...timing,
      cluster,
      nodeId,
      version,
      nonce,
      hashSeed: randomInt(2 ** 32),
      sampleIntervalMs,
      partitions: topic.partitions,
      groups: groups.list,
      limiting,
      costs: { ...costs, random: Math.random },
      maxNodes: limits.maxNodes,
      maxRows: limits.maxRows,
      maxGroupsPerNode: limits.maxGroupsPerNode,
    },
    limiter,
  );
  return coordinator;
}

/** Returns the interval of a node at rest: a tenth of heartbeat and validity, 100 ms by default. */
function restIntervalMs({ sampleIntervalMs, timing }: ResolvedConfig): number {
  return Math.max(sampleIntervalMs, Math.min(timing.heartbeatMs, timing.shareValidMs) / 10);
}

/** Makes the error of a node that stopped deciding for good. */
function fencedError(node: string, why: Fenced): QuotameshError {
  if (why.kind === 'fenced') {
    return new QuotameshError('NODE_FENCED', { node, newer: why.newerIncarnation, own: why.ownIncarnation });
  }
  return new QuotameshError('PARTITIONS_DIFFER', { node, member: why.nodeId, founded: why.founded, own: why.own });
}
