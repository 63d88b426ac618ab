import { Gate } from '../admission/gate.js';
import type {
  AcquireOptions,
  Amounts,
  Batch,
  BatchAmounts,
  Decision,
  NotReady,
  Origin,
  Refused,
  Reservation,
  ReserveOptions,
  TakeOptions,
  WaitOptions,
  Where,
} from '../api/decision.js';
import type { GroupStatus, NodeStatus } from '../api/node-status.js';
import type { CostOptions, ReportedCost } from '../api/reported-cost.js';
import { BackendPoller } from '../backends/backend-poller.js';
import { type ReportedHealth, reportBackend } from '../backends/report-backend.js';
import { reportCost } from '../backends/report-cost.js';
import { RecordCodec } from '../codec/record-codec.js';
import type { ResolvedConfig } from '../config/resolved/resolved-config.js';
import { DIRECTION_COUNT } from '../core/base/vocabulary.js';
import type { Coordinator } from '../core/coordinator/coordinator.js';
import { enforce } from '../core/coordinator/enforce.js';
import { Limiter } from '../core/limiter/limiter.js';
import type { CoordinatorEvent, Fenced } from '../core/protocol/events-and-effects.js';
import { QuotameshError } from '../errors/quotamesh-error.js';
import { GroupTable } from '../groups/group-table.js';
import { GroupRegistry } from '../groups/registry/group-registry.js';
import { YamlGroups } from '../groups/yaml/yaml-groups.js';
import { type Clock, monotonicClock } from '../ports/clock.js';
import type { ReportTopic } from '../ports/report-topic.js';
import type { Telemetry } from '../ports/telemetry.js';
import { describeGroup, describeNode, notReadyBecause } from '../status/describe-node.js';
import { explainGroup, type GroupExplanation } from '../status/explain-group.js';
import { TargetLog } from '../status/target-log.js';
import { announce, announceShares } from './announce.js';
import { createCoordinator, restIntervalMs } from './create-coordinator.js';
import { fencedError } from './fenced-error.js';
import type { QuotaNodeOptions } from './node-parts.js';
import { RebalancingWatch } from './rebalancing-watch.js';
import { TopicPump } from './topic-pump.js';
import { WakingClock } from './waking-clock.js';

/** How long a farewell may take before the node leaves without it; the others then notice its silence. */
const FAREWELL_TIMEOUT_MS = 1500;

/**
 * One node: the coordinator, its limiter, and what connects them with the world. Decisions are synchronous and local;
 * everything else happens on the round timer or on turns of the event loop that the topic's pump plans.
 */
export class QuotaNode {
  readonly config: ResolvedConfig;
  readonly version: string;
  readonly topic: ReportTopic;
  readonly limiter: Limiter;
  /** The groups in force: of YAML, and of the registry. */
  readonly groups: GroupTable;
  readonly gate: Gate;
  /** Those of YAML, which may be read again. */
  readonly yaml: YamlGroups;
  /** Null where it is switched off. */
  readonly registry: GroupRegistry | null;
  readonly pump: TopicPump;
  readonly rebalancing = new RebalancingWatch();
  readonly poller: BackendPoller;
  /** Rounds so far, and what they took in all. */
  readonly rounds = { count: 0, totalMs: 0 };
  readonly clock: Clock;
  readonly startedMs: number;
  /** Called once, when a newer process with the same id has taken over. */
  onFenced: ((error: QuotameshError) => void) | null = null;
  readonly #options: QuotaNodeOptions;
  readonly #telemetry: Telemetry;
  readonly #wakingClock: WakingClock | null;
  readonly #targetLog: TargetLog;
  #coordinator: Coordinator | null = null;
  #timer: NodeJS.Timeout | null = null;
  #intervalMs = 0;
  #closing: Promise<void> | null = null;
  #fenced: Fenced | null = null;
  #waiting: (() => void)[] = [];

  constructor(options: QuotaNodeOptions) {
    const { config, topic, telemetry, registryTopic = null } = options;
    this.#options = options;
    this.config = config;
    this.version = options.version;
    this.topic = topic;
    this.#telemetry = telemetry;
    this.#wakingClock = options.clock === undefined ? (options.wakingClock ?? new WakingClock()) : null;
    this.clock = options.clock ?? this.#wakingClock?.clock ?? monotonicClock;
    this.startedMs = this.clock();
    this.groups = new GroupTable(config.groups);
    this.limiter = new Limiter(config.groups.length * DIRECTION_COUNT);
    this.yaml = new YamlGroups(this, telemetry);
    this.gate = new Gate(this);
    this.registry = registryTopic === null ? null : new GroupRegistry(this, registryTopic, telemetry);
    this.poller = new BackendPoller(this, telemetry);
    this.#targetLog = new TargetLog(this, telemetry);
    this.pump = new TopicPump(topic, new RecordCodec(config.cluster), telemetry, {
      onEpoch: (epoch) => this.step({ kind: 'epoch-began', epoch }),
      onRead: (records) => this.step({ kind: 'records-read', records }),
      onCaughtUp: () => this.step({ kind: 'caught-up' }),
      onAppendFailed: (partition, keys) => this.step({ kind: 'append-failed', partition, keys }),
    });
  }

  /**
   * Opens the topic and joins. Resolves when the topic is open (it may be a while until the node is ready: see `ready`);
   * rejects when the topic cannot be used as it is.
   */
  async start(): Promise<void> {
    // Nothing is decided before the groups are known.
    await this.registry?.open();
    if (this.#closing !== null) return;
    await this.pump.open();
    if (this.#closing !== null) return;
    this.#pace(this.config.sampleIntervalMs);
    this.poller.start();
  }

  /** Null until the topic is open: the number of partitions belongs to it. */
  get coordinator(): Coordinator | null {
    return this.#coordinator;
  }

  get isReady(): boolean {
    return this.#coordinator?.isReady ?? false;
  }

  /** Resolves when the node decides; rejects after `timeoutMs`. */
  async ready(timeoutMs = 30_000): Promise<void> {
    if (this.isReady) return;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.notReadyError()), timeoutMs);
    });
    const decided = new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
    await Promise.race([decided, timeout]).finally(() => clearTimeout(timer));
  }

  /** A synchronous local decision; throws GROUP_UNKNOWN, PLACE_UNATTACHED, AMOUNT_INVALID, AMOUNT_ABOVE_MAX_REQUEST. */
  tryAcquire(where: Where, amounts: Amounts, options?: AcquireOptions): Decision {
    return this.gate.tryAcquire(where, amounts, options);
  }

  /** Whether `tryAcquire` would grant this now; takes nothing and counts nothing. */
  containsTokens(where: Where, amounts: Amounts, origin?: Origin): boolean {
    return this.gate.containsTokens(where, amounts, origin);
  }

  /** Charges work that cannot be refused; it may leave a debt (setting debtMs). */
  consume(where: Where, amounts: Amounts, origin?: Origin): void {
    this.gate.consume(where, amounts, origin);
  }

  /** Takes an estimate for work whose cost is known only afterwards; commit or cancel it. */
  reserve(where: Where, amounts: Amounts, options?: ReserveOptions): Reservation | Refused | NotReady {
    return this.gate.reserve(where, amounts, options);
  }

  /** As many tokens as there are, up to the amounts or `all`; what is not used can be handed back (docs/batches.md). */
  async takeBatch(where: Where, amounts: BatchAmounts, options?: TakeOptions): Promise<Batch | Refused | NotReady> {
    return this.gate.batches.take(where, amounts, options);
  }

  /** Milliseconds until a useful amount is back; 0 = go on. */
  throttleDurationMs(where: Where, origin?: Origin): number {
    return this.gate.throttleDurationMs(where, origin);
  }

  /** As `tryAcquire`, but waits its turn, at most `waitMs`; rejects with what that throws, and the signal's reason. */
  async acquire(where: Where, amounts: Amounts, options: WaitOptions): Promise<Decision> {
    return this.gate.acquire(where, amounts, options);
  }

  /** What the gate, the HTTP headers and the status need: the lane is served from its first use on. */
  serve(lane: number): void {
    const coordinator = this.#coordinator;
    if (coordinator === null || coordinator.lanes.has(lane)) return;
    if (!this.groups.isLive(Math.floor(lane / DIRECTION_COUNT))) return;
    if (this.gate.isFree(lane)) {
      this.limiter.open(lane, this.clock());
      return;
    }
    this.step({ kind: 'lane-served', lane });
    if (this.#timer !== null) this.#pace(this.config.sampleIntervalMs);
    this.limiter.accrueSince(lane, coordinator.readyMs);
  }

  /** Counts what admitted work has cost; throws COST_INVALID, COSTS_FULL, GROUP_UNKNOWN, NOT_READY. */
  reportCost(group: string, costs: ReportedCost | readonly ReportedCost[], options: CostOptions = {}): void {
    reportCost(this, group, costs, options);
  }

  /** Tells the cluster how a backend is; throws BACKEND_INVALID, BACKENDS_FULL, NOT_READY. */
  reportBackend(backend: string, health: ReportedHealth): void {
    reportBackend(this, backend, health);
  }

  /** Every input of the decision in force for a group, in order. */
  explain(group: string): GroupExplanation {
    return explainGroup(this, this.gate.groupIndex(group));
  }

  status(): NodeStatus {
    return describeNode(this);
  }

  groupStatus(group: string): GroupStatus {
    return describeGroup(this, this.gate.groupIndex(group));
  }

  /** Stops deciding, publishes the farewell, closes the topic. Resolves within 4 s. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  get isClosing(): boolean {
    return this.#closing !== null;
  }

  step(event: CoordinatorEvent): void {
    this.#coordinator ??= createCoordinator(this, this.#options);
    const coordinator = this.#coordinator;
    this.#wakingClock?.look();
    const nowMs = this.clock();
    const wasReady = coordinator.isReady;
    const effects = coordinator.step(event, nowMs);
    enforce(effects, coordinator, this.limiter, nowMs);
    this.pump.send(effects.appends);
    for (const notice of effects.notices) {
      announce(notice, this.#telemetry);
      if (notice.kind === 'fenced' || notice.kind === 'partitions-differ') this.#fenced = notice;
    }
    if (effects.decidedLanes.length > 0) {
      this.rebalancing.sharesMoved(effects.decidedLanes, coordinator, nowMs);
      announceShares(effects.decidedLanes, coordinator, this.#telemetry);
    }
    this.gate.waiting.limitsChanged(effects.changedLanes);
    if (!wasReady && coordinator.isReady) {
      for (const resolve of this.#waiting.splice(0)) resolve();
      this.gate.waiting.wakeAll();
    }
    if (this.#fenced !== null) this.#fence(this.#fenced);
  }

  #round(): void {
    if (this.#timer === null) return;
    const before = this.clock();
    this.step({ kind: 'round-elapsed' });
    this.gate.keep(before);
    this.rounds.count++;
    this.rounds.totalMs += this.clock() - before;
    this.#targetLog.round(before);
    // The node decides and serves nobody: rounds only beat, and watch the link. The first lane served ends it at once.
    const isAtRest = this.isReady && this.#coordinator?.lanes.size === 0;
    if (this.#timer !== null) this.#pace(isAtRest ? restIntervalMs(this.config) : this.config.sampleIntervalMs);
  }

  #pace(intervalMs: number): void {
    if (this.#timer !== null && this.#intervalMs === intervalMs) return;
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#intervalMs = intervalMs;
    // Behind what waits in sockets: a late round before it would report a lull (docs/decisions/0009).
    this.#timer = setInterval(() => setImmediate(() => this.#round()), intervalMs);
  }

  #fence(why: Fenced): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    const error = fencedError(this.config.nodeId, why);
    this.#telemetry.log('error', error.message, { code: error.code, remedy: error.remedy });
    this.onFenced?.(error);
  }

  notReadyError(): QuotameshError {
    const { nodeId: node } = this.config;
    return new QuotameshError('NOT_READY', { node, reason: notReadyBecause(this).join('; ') });
  }

  async #close(): Promise<void> {
    this.poller.stop();
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
    this.gate.close();
    if (this.#coordinator !== null) {
      this.step({ kind: 'stopping' });
      const published = await this.pump.flush(FAREWELL_TIMEOUT_MS);
      if (!published) this.#telemetry.log('warn', 'farewell not published; the others will notice the silence');
    }
    await Promise.all([this.registry?.close(), this.pump.close()]);
  }
}
