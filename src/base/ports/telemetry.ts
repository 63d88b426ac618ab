/**
 * Reports events of a node to people, a log line each; `facts` are flat, with units in their names. Must not block: the
 * node decides nothing meanwhile. A call that throws, or whose promise is rejected, loses its line: it counts in
 * `telemetryFailures`, and the first is a warning of the process (TELEMETRY_FAILED). Calls go on, as disks get room
 * again.
 */
export interface Telemetry {
  log(level: LogLevel, message: string, facts?: Readonly<Record<string, unknown>>): void;
  /** Gets every change of an own share for the decision log; rates/s, null = unlimited. */
  decided?(decision: ShareDecision): void;
  /** Gets all busy groups of backends, every five seconds: of those whose health this node published last. */
  busyOnBackends?(busy: BusyOnBackends): void;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

export interface ShareDecision {
  readonly group: string;
  readonly direction: string;
  readonly shareMessages: number | null;
  readonly shareBytes: number | null;
  readonly limitMessages: number | null;
  readonly limitBytes: number | null;
  readonly members: number;
}

/** Group with at least a hundredth of a backend's cost. */
export interface BusyGroup {
  readonly backend: string;
  readonly group: string;
  readonly direction: string;
  /** Units/s that the group costs the backend, of the whole cluster. */
  readonly costPerSecond: number;
  /** Part of the backend's cost, 0 … 1. */
  readonly busyness: number;
}

export interface BusyOnBackends {
  /** Largest parts first, at most a hundred. */
  readonly groups: readonly BusyGroup[];
  /** Further busy groups. */
  readonly leftOut: number;
}

export const silentTelemetry: Telemetry = { log: () => undefined };
