import type { IncomingMessage, ServerResponse } from 'node:http';
import type { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Direction } from '../../core/base/vocabulary.js';
import type { BudgetUnit } from '../../core/strict/budget-units.js';
import type { Cost } from '../../core/target/cost-units.js';
import type { BudgetGift, BudgetGifts, Given } from './budget-gifts.js';
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
} from './decision.js';
import type { GroupExplanation } from './group-explanation.js';
import type { GroupStatus, NodeStatus } from './node-status.js';
import type { ChangeOptions, QuotaGroups } from './quota-groups.js';
import type { QuotaKeys } from './quota-keys.js';
import type { Entered, EnterOptions } from './slot.js';

/** Budget of a group that is spent to a threshold; amounts in its unit. */
export interface BudgetSpent {
  readonly group: string;
  readonly percent: number;
  readonly spent: number;
  readonly limit: number;
  readonly unit: BudgetUnit;
}

/**
 * Decides inside your process. Every call but `acquire`, `enter`, `waitFor`, `takeBatch`, `ready` and `close` answers at once,
 * from this process alone.
 */
export interface QuotaNode {
  readonly nodeId: string;
  readonly cluster: string;
  readonly isReady: boolean;
  readonly groups: QuotaGroups;
  readonly keys: QuotaKeys;
  /** Null unless `createNode` was given `http`. */
  readonly http: NodeHttp | null;
  /**
   * Called once, when the node has stopped deciding for good. Either a newer process with the same id has taken over
   * (`NODE_FENCED`), or a member counts fewer partitions of the topic than this node (`PARTITIONS_DIFFER`).
   */
  onFenced: ((error: QuotameshError) => void) | null;
  /** Called at each threshold of a budget (warnAt; 80 and 100 %): once a period at each node. */
  onBudget: ((spent: BudgetSpent) => void) | null;

  /** Decides at once, locally. Throws GROUP_UNKNOWN, SCOPE_UNATTACHED, AMOUNT_INVALID, AMOUNT_ABOVE_MAX_REQUEST. */
  tryAcquire(where: Where, amounts: RequestAmounts, options?: AcquireOptions): Decision;
  /**
   * Decides as `tryAcquire`, but waits its turn, at most `waitMs`. Rejects with what that throws, and with the signal's
   * reason.
   */
  acquire(where: Where, amounts: RequestAmounts, options: WaitOptions): Promise<Decision>;
  /**
   * Resolves when it is this work's turn. Paces calls of a foreign API: `await node.waitFor('api')`. Rejects with
   * WAIT_OVER after `waitMs`, NOT_READY when the node closes, WAITING_FULL when limits.maxWaiting wait already, the
   * signal's reason, and with what `tryAcquire` throws.
   */
  waitFor(where: Where, options?: WaitForOptions): Promise<Granted>;
  /**
   * Enters a group for the time of one request: holds one of its slots (setting concurrency) and charges its quota, one
   * message where no amounts are named; or neither. Waits its turn, at most `waitMs`. Release the slot when the request
   * ends: `using slot = await node.enter('reports')`. Throws what `acquire` throws.
   */
  enter(where: Where, amounts?: RequestAmounts, options?: EnterOptions): Promise<Entered>;
  /** Enters as `enter`, at once, by the slots that this node holds. */
  tryEnter(where: Where, amounts?: RequestAmounts, options?: AcquireOptions): Entered;
  /** Tests if `tryAcquire` would grant this now; takes and counts nothing. */
  containsTokens(where: Where, amounts: RequestAmounts, origin?: Origin): boolean;
  /** Charges work that cannot be refused; it may leave a debt (setting debtMs). */
  consume(where: Where, amounts: Amounts, origin?: Origin): void;
  /** Takes an estimate for work whose cost is known later; commit or cancel it. */
  reserve(where: Where, amounts: Amounts, options?: ReserveOptions): Reservation | Refused | NotReady;
  /**
   * Takes the tokens that there are, up to the amounts or `all`. Unused ones can be refunded
   * (docs/guide/batches-and-refunds.md).
   */
  takeBatch(where: Where, amounts: BatchAmounts, options?: TakeOptions): Promise<Batch | Refused | NotReady>;
  /** Returns milliseconds until a useful amount is back; 0 = go on. */
  throttleDurationMs(where: Where, origin?: Origin): number;
  /** Returns the wait of who names none: of a strict group, or one with concurrency, its `waitMs` or a round trip; else 0. */
  usualWaitMs(where: Where, origin?: Origin): number;

  /** Counts the cost of admitted work. Throws COST_INVALID, COSTS_FULL, GROUP_UNKNOWN, NOT_READY. */
  reportCost(group: string, costs: ReportedCost | readonly ReportedCost[], options?: CostOptions): void;
  /** Publishes the health of a backend. Throws BACKEND_INVALID, BACKENDS_FULL, NOT_READY. */
  reportBackend(backend: string, health: ReportedHealth): void;

  /** Explains every input of a group's decisions, in order. Throws GROUP_UNKNOWN, NOT_READY. */
  explain(group: string): GroupExplanation;
  /**
   * Raises the present period of a group's budget, or resets it. Each id counts once. Rejects with GROUP_UNKNOWN,
   * FIELD_INVALID, NOT_READY.
   */
  giveBudget(group: string, gift: BudgetGift, options?: Pick<ChangeOptions, 'by'>): Promise<Given>;
  /** Shows a group's budget, and who gave it what. Throws GROUP_UNKNOWN, FIELD_INVALID. */
  budgetOf(group: string): BudgetGifts;
  status(): NodeStatus;
  groupStatus(group: string): GroupStatus;

  /** Resolves when the node decides; rejects with NOT_READY after `timeoutMs` (default 30,000). */
  ready(timeoutMs?: number): Promise<void>;
  /** Stops deciding, publishes the farewell, closes topic and listener. Resolves within 5 s, behind Envoy 7 s. Idempotent. */
  close(): Promise<void>;
}

export interface ReportedCost extends Cost {
  /** Name of the backend in reports of its health; absent = its health is not watched. */
  readonly backend?: string;
}

export interface CostOptions {
  readonly direction?: Direction;
  /** Messages, as admitted, that cost this together; default 1. */
  readonly messages?: number;
  /** Probability with which work is measured, if not all is: costs are scaled by it. */
  readonly sampled?: number;
}

/** Health of a backend: a level (queue, utilisation) with target and spring, or the ratio itself. */
export interface ReportedHealth {
  /** Zone of backends that fail together; default: a zone of its own. */
  readonly zone?: string;
  readonly level?: number;
  /** Level at which it bears just its present work. */
  readonly target?: number;
  /** Width: near saturation from target − spring on, half bearable at target + spring. */
  readonly spring?: number;
  /** Part of its present work that it can bear, 0 to 2; null = not near saturation. */
  readonly throttlingRatio?: number | null;
}

/** Serves a node's HTTP inside a service: live page, API, metrics, health. */
export interface NodeHttp {
  /** Address `http://127.0.0.1:7070` or `unix:/path`; null with `http: 'handler'`. */
  readonly url: string | null;
  /**
   * Answers a request of the service's server. Its `url` lacks the path of the mount (docs/guide/embedding.md), as
   * Express does it: `app.use('/quotas', node.http.handler)`.
   */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
}
