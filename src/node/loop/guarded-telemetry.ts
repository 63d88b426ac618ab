import type { BusyOnBackends, LogLevel, ShareDecision, Telemetry } from '../../base/ports/telemetry.js';
import { callEmbedder, warnEmbedder } from './call-embedder.js';

/** Between the node and a telemetry that may break the promise of its port, because an embedder has written it. */
export class GuardedTelemetry implements Telemetry {
  /** Absent where it is absent there: what nobody asked for is not gathered. */
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

  /** Calls that have thrown, or returned a promise that was rejected. */
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

/** Guards once, however many parts of the assembly ask for it. */
export function guarded(telemetry: Telemetry): GuardedTelemetry {
  return telemetry instanceof GuardedTelemetry ? telemetry : new GuardedTelemetry(telemetry);
}
