import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import type { LogState } from './log-tables.js';

/** Clocks of the log's time; tests pass others. */
export interface MachineClock {
  /** Id for all processes that share `steadyMs`: one boot and one time namespace. */
  readonly id: number;
  steadyMs(): number;
  wallMs(): number;
}

/**
 * Makes this machine's clocks. `process.hrtime` counts from the machine's start, so processes may compare it;
 * `performance.now` from the process's.
 */
export async function machineClock(): Promise<MachineClock> {
  const namespace = await readlink('/proc/self/ns/time').catch(() => '');
  const digest = createHash('sha256')
    .update(`${await bootId()} ${namespace}`)
    .digest();
  return { id: digest.readUIntBE(0, 6), steadyMs: () => Number(process.hrtime.bigint()) / 1e6, wallMs: Date.now };
}

/** Returns an id of this boot; constant where the system has none (macOS, Windows). */
export async function bootId(): Promise<string> {
  return await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'any');
}

/** Milliseconds behind the log by which the steady clock has begun anew; less is rounding. */
const BEHIND_MS = 1;

/**
 * Moves the log's time up to now, by the machine's monotonic clock. It holds within a boot. *Why:* stepped back, the
 * wall clock would stop it, and dead nodes keep their share; stepped forward, fresh records would be stale. A boot's
 * first record takes the wall clock's time, never before the newest record's.
 */
export function advanceLogTime(state: LogState, clock: MachineClock): void {
  const steadyMs = clock.steadyMs();
  const isSameClock = state.clockId === clock.id && state.clockZeroMs + steadyMs >= state.lastAppendMs - BEHIND_MS;
  if (!isSameClock) {
    state.clockId = clock.id;
    state.clockZeroMs = Math.max(state.lastAppendMs, clock.wallMs()) - steadyMs;
  }
  state.lastAppendMs = Math.max(state.lastAppendMs, Math.floor(state.clockZeroMs + steadyMs));
}
