import type { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Gate } from '../admission/gate.js';
import { waitFor } from '../admission/wait/wait-for.js';
import type { BudgetGift, BudgetGifts, Given } from '../api/budget-gifts.js';
import type {
  AcquireOptions,
  Amounts,
  Batch,
  BatchAmounts,
  Decision,
  Granted,
  NotReady,
  Origin,
  Refused,
  RequestAmounts,
  Reservation,
  ReserveOptions,
  TakeOptions,
  WaitForOptions,
  WaitOptions,
  Where,
} from '../api/decision.js';
import type { GroupExplanation } from '../api/group-explanation.js';
import type { GroupStatus, NodeStatus } from '../api/node-status.js';
import type { ChangeOptions, QuotaGroups } from '../api/quota-groups.js';
import type { QuotaKeys } from '../api/quota-keys.js';
import type { BudgetSpent, CostOptions, NodeHttp, QuotaNode, ReportedCost, ReportedHealth } from '../api/quota-node.js';
import type { Entered, EnterOptions } from '../api/slot.js';
import { reportBackend } from '../backends/report-backend.js';
import { reportCost } from '../backends/report-cost.js';
import { budgetLaneOf, giveBudget } from '../groups/changes/change-budget.js';
import { describeBudget, describeGroup, describeNode } from '../status/describe-node.js';
import { explainGroup } from '../status/explain-group.js';
import { callEmbedder, warnEmbedder } from './call-embedder.js';
import { embeddedCaller } from './embedded-change.js';
import { EmbeddedGroups } from './embedded-groups.js';
import { EmbeddedKeys } from './embedded-keys.js';
import type { NodeParts } from './node-parts.js';
import { keepParts } from './parts-of.js';

/** Hides a node's parts behind its public face. */
export class EmbeddedNode implements QuotaNode {
  readonly #parts: NodeParts;
  /** Beside the parts: one load less in every decision. */
  readonly #gate: Gate;
  readonly #groups: QuotaGroups;
  readonly #keys: QuotaKeys;
  #onBudget: ((spent: BudgetSpent) => void) | null = null;
  readonly #http: ClosedWithNode | null;
  #closing: Promise<void> | null = null;

  /** @param http closed with the node */
  constructor(parts: NodeParts, http: ClosedWithNode | null) {
    this.#parts = parts;
    this.#http = http;
    this.#gate = parts.gate;
    this.#groups = new EmbeddedGroups(parts);
    this.#keys = new EmbeddedKeys(parts);
    keepParts(this, parts);
  }

  get nodeId(): string {
    return this.#parts.config.nodeId;
  }

  get cluster(): string {
    return this.#parts.config.cluster;
  }

  get isReady(): boolean {
    return this.#parts.loop.isReady;
  }

  get groups(): QuotaGroups {
    return this.#groups;
  }

  get keys(): QuotaKeys {
    return this.#keys;
  }

  get http(): NodeHttp | null {
    return this.#http;
  }

  get onFenced(): ((error: QuotameshError) => void) | null {
    return this.#parts.life.onFenced;
  }

  set onFenced(listener: ((error: QuotameshError) => void) | null) {
    this.#parts.life.onFenced = listener;
  }

  get onBudget(): ((spent: BudgetSpent) => void) | null {
    return this.#onBudget;
  }

  set onBudget(listener: ((spent: BudgetSpent) => void) | null) {
    this.#onBudget = listener;
    const failed = (reason: string) => warnEmbedder('CALLBACK_FAILED', { callback: 'onBudget', reason });
    this.#parts.budgets.onSpent = (spent) => callEmbedder(() => listener?.(spent), failed);
  }

  tryAcquire(where: Where, amounts: RequestAmounts, options?: AcquireOptions): Decision {
    return this.#gate.tryAcquire(where, amounts, options);
  }

  async acquire(where: Where, amounts: RequestAmounts, options: WaitOptions): Promise<Decision> {
    return this.#gate.acquire(where, amounts, options);
  }

  tryEnter(where: Where, amounts?: RequestAmounts, options?: AcquireOptions): Entered {
    return this.#gate.tryEnter(where, amounts, options);
  }

  async enter(where: Where, amounts?: RequestAmounts, options?: EnterOptions): Promise<Entered> {
    return this.#gate.enter(where, amounts, options);
  }

  async waitFor(where: Where, options?: WaitForOptions): Promise<Granted> {
    return waitFor(this.#gate, this.nodeId, where, options);
  }

  containsTokens(where: Where, amounts: RequestAmounts, origin?: Origin): boolean {
    return this.#gate.containsTokens(where, amounts, origin);
  }

  consume(where: Where, amounts: Amounts, origin?: Origin): void {
    this.#gate.consume(where, amounts, origin);
  }

  reserve(where: Where, amounts: Amounts, options?: ReserveOptions): Reservation | Refused | NotReady {
    return this.#gate.reserve(where, amounts, options);
  }

  async takeBatch(where: Where, amounts: BatchAmounts, options?: TakeOptions): Promise<Batch | Refused | NotReady> {
    return this.#gate.batches.take(where, amounts, options);
  }

  throttleDurationMs(where: Where, origin?: Origin): number {
    return this.#gate.throttleDurationMs(where, origin);
  }

  usualWaitMs(where: Where, origin?: Origin): number {
    return this.#gate.usualWaitMs(where, origin?.direction);
  }

  reportCost(group: string, costs: ReportedCost | readonly ReportedCost[], options: CostOptions = {}): void {
    reportCost(this.#parts, group, costs, options);
  }

  reportBackend(backend: string, health: ReportedHealth): void {
    reportBackend(this.#parts, backend, health);
  }

  explain(group: string): GroupExplanation {
    return explainGroup(this.#parts, this.#gate.groupToExplain(group));
  }

  async giveBudget(group: string, gift: BudgetGift, options: Pick<ChangeOptions, 'by'> = {}): Promise<Given> {
    const lane = budgetLaneOf(this.#parts.budgets, this.#gate.groupIndex(group));
    const isCounted = await giveBudget(this.#parts, { lane, name: group }, gift, embeddedCaller(options));
    return { group, id: gift.id, isCounted, budget: describeBudget(this.#parts, lane) };
  }

  budgetOf(group: string): BudgetGifts {
    const { budgets } = this.#parts;
    const lane = budgetLaneOf(budgets, this.#gate.groupIndex(group));
    return { group, budget: describeBudget(this.#parts, lane), gifts: budgets.gifts(lane) };
  }

  status(): NodeStatus {
    return describeNode(this.#parts);
  }

  groupStatus(group: string): GroupStatus {
    return describeGroup(this.#parts, this.#gate.groupToShow(group));
  }

  async ready(timeoutMs = 30_000): Promise<void> {
    return this.#parts.loop.ready(timeoutMs);
  }

  close(): Promise<void> {
    this.#closing ??= this.#parts.life.close().finally(() => this.#http?.close());
    return this.#closing;
  }
}

interface ClosedWithNode extends NodeHttp {
  close(): Promise<void>;
}
