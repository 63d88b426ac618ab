/**
 * Tells people what happened in the runtime. One log line per event; `facts` are flat and carry units in their names.
 * Must not block: the node decides nothing meanwhile. A call that throws, or returns a promise that is rejected, loses
 * this line and nothing else: it is counted (`telemetryFailures` of the status), and the first one is told as a warning
 * of the process (`process.on('warning')`, code TELEMETRY_FAILED). The node goes on calling, because disks get room again.
 */
export interface Telemetry {
  log(level: LogLevel, message: string, facts?: Readonly<Record<string, unknown>>): void;
  /** Every change of an own share, for those who asked for the decision log; rates per second, null = unlimited. */
  decided?(decision: ShareDecision): void;
  /** Every five seconds: all groups that are busy on backends whose health this node has published last. */
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

/** A group with at least a hundredth of a backend's cost. */
export interface BusyGroup {
  readonly backend: string;
  readonly group: string;
  readonly direction: string;
  /** What the group costs the backend now, units per second of the whole cluster. */
  readonly costPerSecond: number;
  /** Its part of the backend's cost, 0 … 1. */
  readonly busyness: number;
}

export interface BusyOnBackends {
  /** Those with the largest parts first, at most a hundred. */
  readonly groups: readonly BusyGroup[];
  /** How many more are busy. */
  readonly leftOut: number;
}

export const silentTelemetry: Telemetry = { log: () => undefined };
