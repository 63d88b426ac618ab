import type { QuotameshError } from '../../base/errors/quotamesh-error.js';
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
  Reservation,
  ReserveOptions,
  TakeOptions,
  WaitForOptions,
  WaitOptions,
  Where,
} from './decision.js';
import type { GroupExplanation } from './group-explanation.js';
import type { NodeHttp } from './node-http.js';
import type { GroupStatus, NodeStatus } from './node-status.js';
import type { QuotaGroups } from './quota-groups.js';
import type { QuotaKeys } from './quota-keys.js';
import type { CostOptions, ReportedCost } from './reported-cost.js';
import type { ReportedHealth } from './reported-health.js';

/**
 * A node inside your process. Every call but `acquire`, `waitFor`, `takeBatch`, `ready` and `close` answers at once,
 * from this process alone.
 */
export interface QuotaNode {
  readonly nodeId: string;
  readonly cluster: string;
  /** The node decides; before, and after its event loop has slept, it admits nothing. */
  readonly isReady: boolean;
  /** Makes, changes, lists and watches the groups of the cluster at run time. */
  readonly groups: QuotaGroups;
  /** Looks at keys, and makes, changes and lists their templates at run time. */
  readonly keys: QuotaKeys;
  /** Null where `createNode` was not asked for it. */
  readonly http: NodeHttp | null;
  /**
   * Called once, when the node has stopped deciding for good: a newer process with the same id has taken over
   * (`NODE_FENCED`), or a member works with fewer partitions of the topic than this node counts (`PARTITIONS_DIFFER`).
   */
  onFenced: ((error: QuotameshError) => void) | null;

  /** A synchronous local decision; throws GROUP_UNKNOWN, SCOPE_UNATTACHED, AMOUNT_INVALID, AMOUNT_ABOVE_MAX_REQUEST. */
  tryAcquire(where: Where, amounts: Amounts, options?: AcquireOptions): Decision;
  /** As `tryAcquire`, but waits its turn, at most `waitMs`; rejects with what that throws, and the signal's reason. */
  acquire(where: Where, amounts: Amounts, options: WaitOptions): Promise<Decision>;
  /**
   * Resolves when it is this work's turn, so that a call of somebody else's API comes after `await node.waitFor('api')`.
   * Rejects with WAIT_OVER after `waitMs`, NOT_READY when the node closes, WAITING_FULL when limits.maxWaiting wait
   * already, the signal's reason, and with what `tryAcquire` throws.
   */
  waitFor(where: Where, options?: WaitForOptions): Promise<Granted>;
  /** Whether `tryAcquire` would grant this now; takes nothing and counts nothing. */
  containsTokens(where: Where, amounts: Amounts, origin?: Origin): boolean;
  /** Charges work that cannot be refused; it may leave a debt (setting debtMs). */
  consume(where: Where, amounts: Amounts, origin?: Origin): void;
  /** Takes an estimate for work whose cost is known only afterwards; commit or cancel it. */
  reserve(where: Where, amounts: Amounts, options?: ReserveOptions): Reservation | Refused | NotReady;
  /**
   * Takes as many tokens as there are, up to the amounts or `all`; unused ones can be refunded
   * (docs/guide/batches-and-refunds.md).
   */
  takeBatch(where: Where, amounts: BatchAmounts, options?: TakeOptions): Promise<Batch | Refused | NotReady>;
  /** Milliseconds until a useful amount is back; 0 = go on. */
  throttleDurationMs(where: Where, origin?: Origin): number;

  /** Counts what admitted work has cost; throws COST_INVALID, COSTS_FULL, GROUP_UNKNOWN, NOT_READY. */
  reportCost(group: string, costs: ReportedCost | readonly ReportedCost[], options?: CostOptions): void;
  /** Tells the cluster how a backend is; throws BACKEND_INVALID, BACKENDS_FULL, NOT_READY. */
  reportBackend(backend: string, health: ReportedHealth): void;

  /** Every input of the decision in force for a group, in order; throws GROUP_UNKNOWN, NOT_READY. */
  explain(group: string): GroupExplanation;
  status(): NodeStatus;
  /** Throws GROUP_UNKNOWN. */
  groupStatus(group: string): GroupStatus;

  /** Resolves when the node decides; rejects with NOT_READY after `timeoutMs` (default 30,000). */
  ready(timeoutMs?: number): Promise<void>;
  /** Stops deciding, publishes the farewell, closes topic and listener. Resolves within 5 s. Idempotent. */
  close(): Promise<void>;
}
