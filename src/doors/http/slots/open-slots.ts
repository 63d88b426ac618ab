import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Clock } from '../../../base/ports/clock.js';
import { TimeHeap } from '../../../core/base/time-heap.js';
import { EXPIRY_MS } from '../../../core/strict/constants.js';
import type { RequestAmounts } from '../../../node/api/decision.js';
import type { Slot } from '../../../node/api/slot.js';

/** Longest lease: a client that dies gives its slot back as soon as a node that dies. */
export const LEASE_MS_MAX = EXPIRY_MS;

interface OpenSlotsParts {
  readonly nodeId: string;
  readonly clock: Clock;
  /** Most slots that are open at once. */
  readonly max: number;
  /** Since the start; `open` is of now. */
  readonly counts: { open: number; released: number; expired: number; full: number };
}

interface Open {
  readonly slot: Slot;
  leaseMs: number;
  untilMs: number;
}

/** A slot that a client holds under an id. */
export interface Leased {
  readonly id: string;
  readonly leaseMs: number;
}

/** Expired slots that are remembered. More: later clients are told what happened. */
const ENDED_MAX = 10_000;
const SHOWN_MAX = 80;

/**
 * Holds slots over HTTP until their release or the lease's end.
 *
 * An id names this node, this process and a number, and carries a code that only this process can make: nobody releases
 * the slot of another by a guess, and ended ids are told from unknown ones without being remembered.
 */
export class OpenSlots {
  readonly #parts: OpenSlotsParts;
  readonly #counts: OpenSlotsParts['counts'];
  readonly #open = new Map<number, Open>();
  readonly #ends = new TimeHeap<number>();
  readonly #expired = new Set<number>();
  readonly #prefix: string;
  readonly #secret = randomBytes(32);
  #last = 0;

  constructor(parts: OpenSlotsParts) {
    this.#parts = parts;
    this.#counts = parts.counts;
    this.#prefix = `${encodeURIComponent(parts.nodeId)}/${randomBytes(6).toString('hex')}`;
  }

  /** Throws SLOTS_FULL where no room is left. Call it before a slot is taken. */
  rejectIfFull(): void {
    const { max } = this.#parts;
    if (this.#open.size < max) return;
    this.#counts.full++;
    throw new QuotameshError('SLOTS_FULL', { max });
  }

  lease(slot: Slot, leaseMs: number): Leased {
    const untilMs = this.#parts.clock() + leaseMs;
    const number = ++this.#last;
    this.#open.set(number, { slot, leaseMs, untilMs });
    this.#ends.push(untilMs, number);
    this.#counts.open = this.#open.size;
    return { id: `${this.#prefix}/${number}/${this.#codeOf(number)}`, leaseMs };
  }

  /** Begins the lease anew. Throws SLOT_LOST where others may have the slot, and what `release` throws. */
  renew(id: string, leaseMs?: number): Leased {
    const open = this.#openOf(id);
    if (open.slot.state === 'lost') throw new QuotameshError('SLOT_LOST', { id, group: open.slot.group });
    open.leaseMs = leaseMs ?? open.leaseMs;
    open.untilMs = this.#parts.clock() + open.leaseMs;
    return { id, leaseMs: open.leaseMs };
  }

  /** Gives a slot back. Throws SLOT_UNKNOWN, SLOT_ELSEWHERE, SLOT_RELEASED, SLOT_EXPIRED, AMOUNT_INVALID. */
  release(id: string, spent?: RequestAmounts): 'released' | 'lost' {
    const { slot } = this.#openOf(id);
    const end = slot.release(spent);
    this.#end(this.#numberOf(id));
    this.#counts.released++;
    return end === 'lost' ? 'lost' : 'released';
  }

  /** Ends leases that are over. */
  expire(): void {
    const nowMs = this.#parts.clock();
    while (this.#ends.nextMs <= nowMs) {
      const number = this.#ends.pop() as number;
      const open = this.#open.get(number);
      if (open === undefined) continue;
      if (open.untilMs > nowMs) this.#ends.push(open.untilMs, number);
      else this.#expire(number, open);
    }
  }

  #expire(number: number, { slot }: Open): void {
    slot.release();
    this.#end(number);
    this.#counts.expired++;
    this.#expired.add(number);
    for (const first of this.#expired) {
      if (this.#expired.size <= ENDED_MAX) break;
      this.#expired.delete(first);
    }
  }

  #end(number: number): void {
    this.#open.delete(number);
    this.#counts.open = this.#open.size;
  }

  #openOf(id: string): Open {
    this.expire();
    const number = this.#numberOf(id);
    const open = this.#open.get(number);
    if (open !== undefined) return open;
    throw new QuotameshError(this.#expired.has(number) ? 'SLOT_EXPIRED' : 'SLOT_RELEASED', { id: shown(id) });
  }

  #numberOf(id: string): number {
    const [node = '', process = '', digits = '', code = ''] = id.split('/', 5);
    const number = /^[1-9]\d{0,15}$/.test(digits) ? Number(digits) : 0;
    const isOurs = `${node}/${process}` === this.#prefix && number > 0 && number <= this.#last;
    if (isOurs && isSame(id, `${this.#prefix}/${number}/${this.#codeOf(number)}`)) return number;
    const isId = code !== '' && id.length <= ID_LENGTH_MAX;
    if (isId && node !== encodeURIComponent(this.#parts.nodeId)) {
      throw new QuotameshError('SLOT_ELSEWHERE', { node: nameIn(node), self: this.#parts.nodeId });
    }
    throw new QuotameshError('SLOT_UNKNOWN', { id: shown(id) });
  }

  #codeOf(number: number): string {
    return createHmac('sha256', this.#secret).update(String(number)).digest('hex').slice(0, 32);
  }
}

/** Characters of the longest id: a node's name of 200 bytes, encoded. */
export const ID_LENGTH_MAX = 800;

function isSame(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function nameIn(encoded: string): string {
  try {
    return decodeURIComponent(encoded).slice(0, SHOWN_MAX);
  } catch {
    return shown(encoded);
  }
}

function shown(id: string): string {
  return id.slice(0, SHOWN_MAX);
}
