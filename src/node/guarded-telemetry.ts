import { QuotameshError } from '../errors/quotamesh-error.js';
import { show } from '../input/shown-value.js';
import type { LogLevel, ShareDecision, Telemetry } from '../ports/telemetry.js';

/** Between the node and a telemetry that may break the promise of its port, because an embedder has written it. */
export class GuardedTelemetry implements Telemetry {
  /** Absent where it is absent there: what nobody asked for is not gathered. */
  readonly decided?: (decision: ShareDecision) => void;
  readonly #guarded: Telemetry;
  #failures = 0;

  constructor(telemetry: Telemetry) {
    this.#guarded = telemetry;
    if (telemetry.decided !== undefined) {
      this.decided = (decision) => this.#call('decided', () => telemetry.decided?.(decision));
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
    try {
      const answer = call();
      // An async function fits the port, too; its rejection would end the process.
      if (isThenable(answer)) Promise.resolve(answer).catch((error: unknown) => this.#failed(method, error));
    } catch (error) {
      this.#failed(method, error);
    }
  }

  #failed(method: keyof Telemetry, cause: unknown): void {
    this.#failures++;
    if (this.#failures > 1) return;
    const reason = cause instanceof Error ? cause.message : show(cause);
    const { code, message, remedy } = new QuotameshError('TELEMETRY_FAILED', { method, reason });
    // The log has just failed, so it goes to standard error, or to the process's listeners for warnings.
    process.emitWarning(`${message}. ${remedy}`, { type: 'QuotameshWarning', code });
  }
}

/** Guards once, however many parts of the assembly ask for it. */
export function guarded(telemetry: Telemetry): GuardedTelemetry {
  return telemetry instanceof GuardedTelemetry ? telemetry : new GuardedTelemetry(telemetry);
}

function isThenable(answer: unknown): answer is PromiseLike<unknown> {
  return typeof (answer as PromiseLike<unknown> | null | undefined)?.then === 'function';
}
