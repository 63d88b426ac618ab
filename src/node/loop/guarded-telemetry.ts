import type { BusyOnBackends, LogLevel, ShareDecision, Telemetry } from '../../base/ports/telemetry.js';
import { callEmbedder, warnEmbedder } from './call-embedder.js';

/** Guards the node against an embedder's telemetry that breaks its port's promises. */
export class GuardedTelemetry implements Telemetry {
  /** Absent where the embedder's is: nothing is gathered in vain. */
  readonly decided?: (decision: ShareDecision) => void;
  readonly busyOnBackends?: (busy: BusyOnBackends) => void;
  readonly #guarded: Telemetry;
  #failures = 0;

  constructor(telemetry: Telemetry) {
    this.#guarded = telemetry;
    if (telemetry.decided !== undefined) {
      this.decided = (decision) => this.#call('decided', () => telemetry.decided?.(decision));
    }
    if (telemetry.busyOnBackends !== undefined) {
      this.busyOnBackends = (busy) => this.#call('busyOnBackends', () => telemetry.busyOnBackends?.(busy));
    }
  }

  /** Calls that threw, or whose promise was rejected. */
  get failures(): number {
    return this.#failures;
  }

  log(level: LogLevel, message: string, facts?: Readonly<Record<string, unknown>>): void {
    this.#call('log', () => this.#guarded.log(level, message, facts));
  }

  #call(method: keyof Telemetry, call: () => unknown): void {
    callEmbedder(call, (reason) => {
      this.#failures++;
      if (this.#failures === 1) warnEmbedder('TELEMETRY_FAILED', { method, reason });
    });
  }
}

export function guarded(telemetry: Telemetry): GuardedTelemetry {
  return telemetry instanceof GuardedTelemetry ? telemetry : new GuardedTelemetry(telemetry);
}
