import { isIPv6 } from 'node:net';
import type { Clock } from '../ports/clock.js';

/** Addresses remembered, about 100 bytes each; beyond it the one that failed first is forgotten. */
const ADDRESSES_MAX = 10_000;
export const SPAN_MS = 60_000;

interface Failures {
  count: number;
  readonly sinceMs: number;
}

/** Counts an address's failures within a minute; IPv6 by /64, all of which one machine has. */
export class FailedAttempts {
  readonly #clock: Clock;
  readonly #byAddress = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds one; returns the failures within the minute. */
  add(address: string): number {
    const key = networkOf(address);
    const failures = this.#current(key);
    if (failures !== null) return ++failures.count;
    this.#byAddress.delete(key);
    const oldest = this.#byAddress.keys().next();
    if (this.#byAddress.size >= ADDRESSES_MAX && oldest.done !== true) this.#byAddress.delete(oldest.value);
    this.#byAddress.set(key, { count: 1, sinceMs: this.#clock() });
    return 1;
  }

  count(address: string): number {
    return this.#current(networkOf(address))?.count ?? 0;
  }

  /** Returns milliseconds until the address starts anew; 0 = it has not failed. */
  remainingMs(address: string): number {
    const failures = this.#current(networkOf(address));
    return failures === null ? 0 : failures.sinceMs + SPAN_MS - this.#clock();
  }

  get size(): number {
    return this.#byAddress.size;
  }

  #current(key: string): Failures | null {
    const failures = this.#byAddress.get(key);
    return failures === undefined || this.#clock() - failures.sinceMs >= SPAN_MS ? null : failures;
  }
}

export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%', 1)[0].split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  const groups = [...first, ...Array.from({ length: zeros }, () => '0'), ...last];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
