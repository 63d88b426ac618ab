import { randomBytes } from 'node:crypto';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Telemetry } from '../../../base/ports/telemetry.js';
import type { Scope } from '../../../core/beside/attachments/attachment.js';
import { scopeText } from '../../../node/admission/request/scope-resolver.js';
import type { Amounts, NotReady, Refused, Reservation } from '../../../node/api/decision.js';
import type { ReportedCost } from '../../../node/api/quota-node.js';
import { checkCost } from '../../../node/backends/report-cost.js';
import type { NodeParts } from '../../../node/loop/node-parts.js';
import type { AcquireBody } from './acquire-body.js';
import { nameIn, whereOf } from './scope-fields.js';

/** Grant to be committed or cancelled by id: at this node, within `validMs`. */
export interface Reserved {
  readonly granted: true;
  /** Set where a shadow would have refused it. */
  readonly shadow?: 'refused';
  readonly id: string;
  readonly validMs: number;
}

/** End of an open reservation; absent amounts are as estimated. */
export interface Ending extends Amounts {
  readonly id: string;
  readonly costs?: readonly ReportedCost[];
  readonly cancel?: boolean;
}

export type ReservationCounts = ReturnType<typeof createReservationCounts>;

/** Counts reservations since the start; `open` is of now, expired ones are charged as estimated. */
export function createReservationCounts() {
  return { open: 0, committed: 0, cancelled: 0, expired: 0, full: 0 };
}

interface Open {
  readonly reservation: Reservation;
  readonly group: string;
  readonly messages: number;
  readonly bytes: number;
  readonly cost: ReportedCost | undefined;
  readonly untilMs: number;
}

/**
 * Holds reservations over HTTP: the library's (one-reservation.ts) under an id. At most `limits.maxReservations`, each
 * for `limits.reservationMs`; then it is charged as estimated, since the work may have been done. Ids count up behind a
 * prefix of the process, which tells ended ones from unknown ones without remembering them.
 */
export class OpenReservations {
  readonly #node: NodeParts;
  readonly #telemetry: Telemetry;
  readonly #counts: ReservationCounts;
  /** By number: all are valid for the same time, so the lowest expires first. */
  readonly #open = new Map<number, Open>();
  readonly #prefix = randomBytes(6).toString('hex');
  #last = 0;
  /** Lowest number that may be open; iterating over the map would walk over deleted entries. */
  #first = 1;
  readonly #silentUntilMs = { expired: 0, full: 0 };

  constructor(node: NodeParts, telemetry: Telemetry, counts: ReservationCounts) {
    this.#node = node;
    this.#telemetry = telemetry;
    this.#counts = counts;
  }

  /** Reserves an amount. Throws what the library's `reserve` throws, and RESERVATIONS_FULL. */
  reserve(body: AcquireBody): Reserved | Refused | NotReady {
    rejectTogether(body);
    if (body.cost !== undefined) checkCost(body.cost, 'cost: ');
    this.expire();
    const { maxReservations: max, reservationMs: validMs } = this.#node.config.limits;
    if (this.#open.size >= max) throw this.#full(max);
    const reservation = this.#node.gate.reserve(whereOf(body), body, body);
    if (!reservation.granted) return reservation;
    const { messages = 0, bytes = 0, cost } = body;
    const group = nameIn(body) ?? scopeText(whereOf(body) as Scope);
    const untilMs = this.#node.clock() + validMs;
    this.#open.set(++this.#last, { reservation, group, messages, bytes, cost, untilMs });
    this.#counts.open = this.#open.size;
    const { shadow } = reservation;
    return { granted: true, id: `${this.#prefix}-${this.#last}`, validMs, ...(shadow && { shadow }) };
  }

  /**
   * Ends a reservation. Throws RESERVATION_UNKNOWN, RESERVATION_ENDED, AMOUNT_INVALID, COST_INVALID, COSTS_FULL,
   * NOT_READY, and then leaves it open.
   */
  end({ id, cancel = false, messages, bytes, costs }: Ending): 'committed' | 'cancelled' {
    this.expire();
    const at = this.#numberOf(id);
    const open = this.#open.get(at);
    if (open === undefined) {
      throw new QuotameshError('RESERVATION_ENDED', { id, validMs: this.#node.config.limits.reservationMs });
    }
    if (cancel) open.reservation.cancel();
    else {
      const actual = { messages: messages ?? open.messages, bytes: bytes ?? open.bytes };
      open.reservation.commit(actual, costs ?? open.cost);
    }
    this.#open.delete(at);
    this.#counts.open = this.#open.size;
    this.#counts[cancel ? 'cancelled' : 'committed']++;
    return cancel ? 'cancelled' : 'committed';
  }

  /** Charges expired reservations; looks at no others. */
  expire(): void {
    const nowMs = this.#node.clock();
    let [expired, first] = [0, ''];
    for (; this.#first <= this.#last; this.#first++) {
      const open = this.#open.get(this.#first);
      if (open === undefined) continue;
      if (open.untilMs > nowMs) break;
      this.#open.delete(this.#first);
      this.#charge(open);
      if (expired++ === 0) first = open.group;
    }
    if (expired === 0) return;
    this.#counts.open = this.#open.size;
    this.#counts.expired += expired;
    const facts = { expired: this.#counts.expired, group: first, open: this.#open.size };
    this.#tell('expired', 'reservations were neither committed nor cancelled: charged as estimated', facts);
  }

  #charge({ reservation, messages, bytes, cost }: Open): void {
    try {
      reservation.commit({ messages, bytes }, cost);
    } catch (error) {
      // A full table of costs, or a node that is not ready: the amounts are charged without a cost.
      if (!(error instanceof QuotameshError)) throw error;
      reservation.commit({ messages, bytes });
    }
  }

  #numberOf(id: string): number {
    const [prefix, digits = ''] = id.split('-', 2);
    const at = /^[1-9]\d{0,15}$/.test(digits) ? Number(digits) : 0;
    if (prefix === this.#prefix && at > 0 && at <= this.#last && id === `${prefix}-${digits}`) return at;
    throw new QuotameshError('RESERVATION_UNKNOWN', { id: id.slice(0, SHOWN_MAX) });
  }

  #full(max: number): QuotameshError {
    this.#counts.full++;
    this.#tell('full', 'no room for more reservations', { max, refused: this.#counts.full });
    return new QuotameshError('RESERVATIONS_FULL', { max });
  }

  /** Logs at most one line of a kind in ten seconds. No client may fill the log. */
  #tell(kind: 'expired' | 'full', message: string, facts: Readonly<Record<string, unknown>>): void {
    const nowMs = this.#node.clock();
    if (nowMs < this.#silentUntilMs[kind]) return;
    this.#silentUntilMs[kind] = nowMs + LOG_EVERY_MS;
    this.#telemetry.log('warn', message, facts);
  }
}

const LOG_EVERY_MS = 10_000;
const SHOWN_MAX = 80;

function rejectTogether({ atMost = false, waitMs = 0, priority = 'default' }: AcquireBody): void {
  const field = atMost ? 'atMost' : waitMs > 0 ? 'waitMs' : priority === 'immediate' ? 'priority' : null;
  if (field === null) return;
  throw new QuotameshError('FIELD_INVALID', { field, reason: 'must be absent where cost or reserve is given' });
}
