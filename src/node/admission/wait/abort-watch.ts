/**
 * Holds waiters by signal, with one listener for each signal. *Why:* a signal looks through all its listeners at each
 * change: n waits with one listener each would begin in n² steps.
 */
export class AbortWatch<Waiter> {
  readonly #onAbort: (waiter: Waiter, reason: unknown) => void;
  readonly #watched = new Map<AbortSignal, Watched<Waiter>>();

  constructor(onAbort: (waiter: Waiter, reason: unknown) => void) {
    this.#onAbort = onAbort;
  }

  add(signal: AbortSignal, waiter: Waiter): void {
    const watched = this.#watched.get(signal) ?? this.#watch(signal);
    watched.waiters.add(waiter);
  }

  remove(signal: AbortSignal, waiter: Waiter): void {
    const watched = this.#watched.get(signal);
    if (watched === undefined) return;
    watched.waiters.delete(waiter);
    if (watched.waiters.size > 0) return;
    signal.removeEventListener('abort', watched.listener);
    this.#watched.delete(signal);
  }

  #watch(signal: AbortSignal): Watched<Waiter> {
    const waiters = new Set<Waiter>();
    const listener = () => {
      for (const waiter of waiters) this.#onAbort(waiter, signal.reason);
    };
    signal.addEventListener('abort', listener, { once: true });
    const watched = { waiters, listener };
    this.#watched.set(signal, watched);
    return watched;
  }
}

interface Watched<Waiter> {
  readonly waiters: Set<Waiter>;
  readonly listener: () => void;
}
