import type { Scope } from '../../core/beside/attachments/attachment.js';
import { LEVELS } from '../../core/limiter/levels.js';
import type { BudgetUnit } from '../../core/strict/budget-units.js';
import type { ReportedCost } from './quota-node.js';

/**
 * Names what work is charged to: a group, or the scope of a request. A scope is resolved by the attachments
 * (docs/operate/administration.md): all of its groups decide, and all are charged or none.
 */
export type Where = string | Scope;

export type Decision = Granted | Refused | NotReady;

/**
 * Reports the quota of the deciding group: the most specific one, or the one that refused. It is computed when it is
 * read: read it at once; a copy or JSON of a decision lacks it.
 */
export interface QuotaTold {
  /** Quota of the whole cluster per unit of time, as written: 5 of 5/min. */
  readonly limit: PerDimension;
  /** That unit of time in milliseconds: 60,000 of 5/min. */
  readonly windowMs: PerDimension;
  /**
   * Whole units that this node would still admit now. Where tokens are shared, those in the cluster's bucket as far as
   * this node knows: of a silent key its depth less what was spent here. Limits of a topic, a client and the node do
   * not count.
   */
  readonly remaining: PerDimension;
  /**
   * Milliseconds until most is left, if nobody takes anything: a full bucket, or the next window. Null also where
   * nothing comes in.
   */
  readonly resetMs: PerDimension;
}

/** One value per dimension; null = no quota. */
export interface PerDimension {
  readonly messages: number | null;
  readonly bytes: number | null;
}

/** Lists what refuses requests: levels of limits, and the group's budget. */
export const REFUSERS = [...LEVELS, 'budget'] as const;
export type Refuser = (typeof REFUSERS)[number];

/** Budget of the group, as far as this node knows. */
export interface BudgetTold {
  readonly unit: BudgetUnit;
  /** With what was carried over or given beside. */
  readonly limit: number;
  /** Amount that nobody has spent: in the log, or held here. Whole units; of cents, millionths. */
  readonly remaining: number;
  /** Milliseconds until the next period; null = it never ends, or none has begun. */
  readonly resetMs: number | null;
}

export interface Granted extends Partial<QuotaTold> {
  readonly granted: true;
  /** Messages granted, where `atMost` was requested. */
  readonly messages?: number;
  readonly bytes?: number;
  /** Set where a shadow would have refused it (docs/guide/shadow.md). */
  readonly shadow?: 'refused';
  /** Set where the group has a budget. */
  readonly budget?: BudgetTold;
}

export interface Refused extends QuotaTold {
  readonly granted: false;
  readonly reason: 'quota';
  /** First level that refused. */
  readonly level: Refuser;
  /** Group whose level refused; only where the request named a scope. */
  readonly group?: string;
  /** Unit that was refused; tokens and cents only by a budget. */
  readonly dimension: BudgetUnit;
  /** Set where the plan of the group would have granted it. */
  readonly shadow?: 'granted';
  /** Set where the budget refused. */
  readonly budget?: BudgetTold;
  /** Milliseconds until all levels could admit this amount, beside earlier promises: 1 to RETRY_AFTER_MS_MAX. */
  readonly retryAfterMs: number;
}

/** Answers while the node knows no share: at the start, and after its event loop has slept. */
export interface NotReady extends QuotaTold {
  readonly granted: false;
  readonly reason: 'not-ready';
  readonly because: string;
  readonly retryAfterMs: number;
}

export const GRANTED_DECISION: Granted = Object.freeze({ granted: true });
export const SHADOW_REFUSED_DECISION: Granted = Object.freeze({ granted: true, shadow: 'refused' });

/** Milliseconds of the longest timer there is, almost 25 days; more cannot be slept. */
export const RETRY_AFTER_MS_MAX = 2 ** 31 - 1;
/** Milliseconds until a retry is worth it although no time is known: quotas change, and nodes come and go. */
export const RETRY_UNKNOWN_MS = 60_000;
/** Milliseconds until a retry is worth it: nodes get ready within a second or two. */
export const NOT_READY_RETRY_MS = 250;

/** Whole units, ≥ 0; an empty message is one message and 0 bytes. */
export interface Amounts {
  readonly messages?: number;
  readonly bytes?: number;
}

/** Amounts of a request, with what it may cost of a budget. Groups without such a budget take no notice of others. */
export interface RequestAmounts extends Amounts {
  /** Tokens of a model, for a budget in tokens alone: no rate counts them. */
  readonly tokens?: number;
  /** Cents, for a budget in cents alone; at most six decimals. */
  readonly cents?: number;
}

export interface Origin {
  readonly direction?: 'publish' | 'dispatch';
  /** Topic for `perTopic` limits and the group's `topics:`; those without one share a part. */
  readonly topic?: string;
  /** Client for `perClient` limits, and for turns among those who wait. */
  readonly client?: string;
}

/**
 * Quota of a key, as below `quota` in YAML: `{ publish: { messagesPerSecond: '600/min' } }`. Rates that it leaves out
 * are the template's, which also bounds them (`allowLimits`).
 */
export type KeyLimit = Readonly<Partial<Record<'publish' | 'dispatch', Readonly<Record<string, number | string>>>>>;

/** Gives a key its own limit, where its template allows that. */
export interface Limiting {
  /** Limit of the key at this node: until another one comes or the key is forgotten. */
  readonly limit?: KeyLimit;
}

export interface ReserveOptions extends Origin, Limiting {
  /** Marks work that was refused before: it is not counted as demand twice. */
  readonly retry?: boolean;
}

export interface AcquireOptions extends ReserveOptions {
  /** Grants a part if the whole is not there: whole messages, at least one. */
  readonly atMost?: boolean;
  /** Lets a grant carry `limit`, `windowMs`, `remaining` and `resetMs`, as refusals do; costs an object. */
  readonly tell?: boolean;
}

/** Bounds and turns of a wait. */
interface Waiting {
  /** Ends the wait; the promise rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Turns of this client (or topic) per turn of others, 1–1000. */
  readonly weight?: number;
}

export interface WaitOptions extends ReserveOptions, Waiting {
  readonly waitMs: number;
}

/** Amounts and bounds of a wait; one message where no amount is named. */
export interface WaitForOptions extends RequestAmounts, Origin, Waiting {
  /** Longest wait in milliseconds, 0 to 600,000 (the default); then it rejects with WAIT_OVER. */
  readonly waitMs?: number;
}

/** Amounts to take; `all`: the node's whole share now, in whole messages. */
export type BatchAmounts = Amounts | 'all';

export interface TakeOptions extends ReserveOptions, Pick<Waiting, 'signal'> {
  /** Milliseconds to wait for at least one message: 0 (the default) to 600,000. */
  readonly waitMs?: number;
}

/** Amounts that a batch gives back: unused ones, and those of dropped work. All else counts as used. */
export interface Refund extends Amounts {
  /** Dropped work: refunded, or counted, by the group's setting `dropped`. */
  readonly dropped?: Amounts;
}

/** Tokens taken at once: as many as there were, up to the amount requested. */
export interface Batch {
  readonly granted: true;
  readonly id: string;
  readonly messages: number;
  readonly bytes: number;
  /** Window that they came from (limiter: window), or null. */
  readonly epoch: number | null;
  /** Milliseconds after the grant in which a refund is possible: to the end of the window, or limits.reservationMs. */
  readonly validMs: number;
  /**
   * Ends the batch. Throws BATCH_ENDED, BATCH_TOO_SMALL, AMOUNT_INVALID, FIELD_INVALID, FIELD_UNKNOWN, and then gives
   * nothing back.
   */
  refund(left: Refund): void;
}

export interface Reservation {
  readonly granted: true;
  readonly shadow?: 'refused';
  /**
   * Charges the real cost: gives the rest back, or takes what was missing. Absent amounts are as estimated. `costs` are
   * reported as by `reportCost`; throws what that throws, and then stays open. A second call does nothing.
   */
  commit(actual: Amounts, costs?: ReportedCost | readonly ReportedCost[]): void;
  /** Gives everything back: the work was not done. A second call does nothing. */
  cancel(): void;
}
