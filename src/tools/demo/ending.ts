import { constants } from 'node:os';
import { EXIT_OK, EXIT_UNEXPECTED } from '../../base/errors/error-row.js';

/** Reasons for the demonstration's end. */
export type DemoEndReason =
  | { readonly kind: 'time-over' }
  | { readonly kind: 'signal'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'failed'; readonly why: string };

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/** Milliseconds; an earlier second signal is the same Ctrl-C, from terminal and npm. */
const SAME_SIGNAL_MS = 1000;

/** Keeps the first reason to end; a later signal means that leaving takes too long. */
export class DemoEnding {
  readonly reached: Promise<DemoEndReason>;
  reason: DemoEndReason | null = null;
  readonly #onImpatience: () => void;
  readonly #onSignal = (signal: NodeJS.Signals) => this.#signalled(signal);
  #resolve: (reason: DemoEndReason) => void = () => undefined;
  #reachedMs = 0;

  constructor(onImpatience: () => void) {
    this.#onImpatience = onImpatience;
    this.reached = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    for (const signal of SIGNALS) process.on(signal, this.#onSignal);
  }

  reach(reason: DemoEndReason): void {
    if (this.reason !== null) return;
    this.reason = reason;
    this.#reachedMs = performance.now();
    this.#resolve(reason);
  }

  forget(): void {
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  }

  #signalled(signal: NodeJS.Signals): void {
    if (this.reason === null) this.reach({ kind: 'signal', signal });
    else if (performance.now() - this.#reachedMs > SAME_SIGNAL_MS) this.#onImpatience();
  }
}

/** Returns the exit code: Ctrl-C is no failure without an end, and one before a due verdict. */
export function demoExitCode(
  reason: DemoEndReason,
  options: { readonly endless: boolean; readonly kept: boolean },
): number {
  switch (reason.kind) {
    case 'time-over':
      return options.kept ? EXIT_OK : EXIT_UNEXPECTED;
    case 'signal':
      return options.endless ? EXIT_OK : 128 + constants.signals[reason.signal];
    case 'failed':
      return EXIT_UNEXPECTED;
  }
}
