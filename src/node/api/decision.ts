import type { Dimension } from '../../core/base/vocabulary.js';
import type { Scope } from '../../core/beside/attachments/attachment.js';
import type { Level } from '../../core/limiter/levels.js';
import type { ReportedCost } from './reported-cost.js';

/**
 * Whom work is charged to: a group by its name; or tenant, namespace, topic, client and headers, whose groups the
 * attachments know (docs/operate/administration.md): all of them decide, and all are charged or none.
 */
export type Where = string | Scope;

/** The answer to one acquire. */
export type Decision = Granted | Refused | NotReady;

/**
 * What a decision tells of the quota of its group: of the most specific one for a scope, of the one that refused in a
 * refusal. It is computed when it is read, so read it at once; a copy or JSON of a decision is without it.
 */
export interface QuotaTold {
  /** The quota of the whole cluster in the unit of time in which it is written: 5 of 5/min. */
  readonly limit: PerDimension;
  /** This unit: 60,000 of 5/min. */
  readonly windowMs: PerDimension;
  /**
   * Whole units that this node would still admit now; where tokens are shared, those in the cluster's bucket as far as
   * this node knows: of a silent key its depth less what was spent here. Limits of a topic, a client and the node are not in it.
   */
  readonly remaining: PerDimension;
  /**
   * Milliseconds until as much is left as there can be, if nobody takes anything: a full bucket, or the next window.
   * Null also where nothing comes in.
   */
  readonly resetMs: PerDimension;
}

/** Null where the dimension has no quota. */
export interface PerDimension {
  readonly messages: number | null;
  readonly bytes: number | null;
}

/** It tells of the quota where `tell` or `atMost` was asked for, and after a wait; a plain grant is one object for all. */
export interface Granted extends Partial<QuotaTold> {
  readonly granted: true;
  /** What was granted, where `atMost` was asked for. */
  readonly messages?: number;
  readonly bytes?: number;
  /** A shadow would have refused it (docs/guide/shadow.md). Absent = there is none, or it grants it as well. */
  readonly shadow?: 'refused';
}

export interface Refused extends QuotaTold {
  readonly granted: false;
  readonly reason: 'quota';
  /** The first level that refused. */
  readonly level: Level;
  /** The group whose level refused. Only given where the request named a scope, which may belong to several groups. */
  readonly group?: string;
  readonly dimension: Dimension;
  /** What is planned for the group would have granted it. Absent = nothing is planned, or it refuses it as well. */
  readonly shadow?: 'granted';
  /** When all levels could admit this amount beside those that were told before; at least 1, at most 60,000. */
  readonly retryAfterMs: number;
}

/** Nothing is admitted before the node knows its share: at the start, and after its event loop has slept. */
export interface NotReady extends QuotaTold {
  readonly granted: false;
  readonly reason: 'not-ready';
  readonly because: string;
  readonly retryAfterMs: number;
}

export const GRANTED_DECISION: Granted = Object.freeze({ granted: true });
/** Granted, and a shadow would have refused it. */
export const SHADOW_REFUSED_DECISION: Granted = Object.freeze({ granted: true, shadow: 'refused' });

export const RETRY_AFTER_MS_MAX = 60_000;
/** A node gets ready within a second or two; asking more often than this helps nobody. */
export const NOT_READY_RETRY_MS = 250;

/** Whole units, ≥ 0; an empty message is one message and 0 bytes. */
export interface Amounts {
  readonly messages?: number;
  readonly bytes?: number;
}

/** Where work belongs. */
export interface Origin {
  readonly direction?: 'publish' | 'dispatch';
  /** For `perTopic` limits and `topics:` of the group. Without one it shares a part with all others that name none. */
  readonly topic?: string;
  /** For `perClient` limits, and for turns among those who wait. */
  readonly client?: string;
}

/**
 * The quota of a key, as it stands below `quota` in YAML: `{ publish: { messagesPerSecond: '600/min' } }`. Rates that it does
 * not name are those of the key's template, which says how much may be asked for (`allowLimits`).
 */
export type KeyLimit = Readonly<Partial<Record<'publish' | 'dispatch', Readonly<Record<string, number | string>>>>>;

/** For a key that its template lets have a limit of its own. */
export interface Limiting {
  /** The key has it at this node from now on, until another one is told or the key is forgotten. */
  readonly limit?: KeyLimit;
}

export interface AcquireOptions extends Origin, Limiting {
  /** This work was refused before and is tried again: it is not counted as demand twice. */
  readonly retry?: boolean;
  /** Grant a part if the whole is not there: whole messages, at least one; the decision says how much. */
  readonly atMost?: boolean;
  /** A grant tells `limit`, `windowMs`, `remaining` and `resetMs`, as refusals always do; it costs an object. */
  readonly tell?: boolean;
}

export interface WaitOptions extends Origin, Limiting {
  readonly retry?: boolean;
  /** Longest wait; afterwards the answer is the refusal. */
  readonly waitMs: number;
  /** Ends the wait; the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Turns of this client (or topic) per turn of the others, 1 to 1000. */
  readonly weight?: number;
}

/** What `waitFor` waits for: one message where neither is named. */
export interface WaitForOptions extends Amounts, Origin {
  /** Longest wait, 0 to 600,000; afterwards the promise is rejected with WAIT_OVER. 600,000 where it is absent. */
  readonly waitMs?: number;
  /** Ends the wait; the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Turns of this client (or topic) per turn of the others, 1 to 1000. */
  readonly weight?: number;
}

/** `all`: everything the node's share has now, in whole messages. */
export type BatchAmounts = Amounts | 'all';

export interface TakeOptions extends Origin, Limiting {
  readonly retry?: boolean;
  /** Wait so long for at least one message, 0 … 600,000; absent = 0. */
  readonly waitMs?: number;
  /** Ends the wait; the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** What a batch gives back: unused amounts, and those of dropped work. Everything else counts as used. */
export interface Refund extends Amounts {
  /** Work that was dropped: refunded as well, or counted, by the group's setting `dropped`. */
  readonly dropped?: Amounts;
}

/** Tokens that were taken at once: as many as there were, up to the amount requested. */
export interface Batch {
  readonly granted: true;
  readonly id: string;
  readonly messages: number;
  readonly bytes: number;
  /** The window that they came from (limiter: window), or null. */
  readonly epoch: number | null;
  /** For so long after the grant a refund is possible: to the end of the window, or limits.reservationMs. */
  readonly validMs: number;
  /** Ends the batch. Throws BATCH_ENDED, BATCH_TOO_SMALL, AMOUNT_INVALID, FIELD_INVALID, FIELD_UNKNOWN; then nothing is given back. */
  refund(left: Refund): void;
}

export interface ReserveOptions extends Origin, Limiting {
  readonly retry?: boolean;
}

/** What is held for work whose cost is known only afterwards. Exactly one of the two ends it; a second call does nothing. */
export interface Reservation {
  readonly granted: true;
  /** A shadow would have refused it. */
  readonly shadow?: 'refused';
  /**
   * The work has cost this: the rest is given back, or what was too little is charged. What is absent was as estimated. With `costs` it also tells what
   * `reportCost` would; throws what that throws, and then stays open.
   */
  commit(actual: Amounts, costs?: ReportedCost | readonly ReportedCost[]): void;
  /** The work was not done: everything is given back. */
  cancel(): void;
}
