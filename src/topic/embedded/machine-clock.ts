import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import type { LogState } from './log-tables.js';

/** The clocks from which the log's time is made. Tests pass others. */
export interface MachineClock {
  /** One id for all processes that share the clock `steadyMs`: one boot of the machine and one time namespace. */
  readonly id: number;
  /** The machine's monotonic clock, in milliseconds. Nobody can step it, and all processes of one boot share it. */
  steadyMs(): number;
  /** The wall clock, which may be stepped at any time. */
  wallMs(): number;
}

/**
 * Makes the clocks of this machine. `process.hrtime` counts from the start of the machine on Linux (CLOCK_MONOTONIC),
 * macOS and Windows alike, so that processes may compare it; `performance.now` counts from the start of the process.
 */
export async function machineClock(): Promise<MachineClock> {
  const namespace = await readlink('/proc/self/ns/time').catch(() => '');
  const digest = createHash('sha256')
    .update(`${await bootId()} ${namespace}`)
    .digest();
  return { id: digest.readUIntBE(0, 6), steadyMs: () => Number(process.hrtime.bigint()) / 1e6, wallMs: Date.now };
}

/**
 * Returns an id that differs after every start of the machine. Where the system does not tell (macOS, Windows), it is
 * always the same.
 */
export async function bootId(): Promise<string> {
  return await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'any');
}

/** If the steady clock is behind the log by more than this, it began anew with the machine; less is rounding. */
const BEHIND_MS = 1;

/**
 * Moves the log's time up to now. Within a boot the log's time follows the machine's monotonic clock and not the wall
 * clock. If the wall clock were stepped back, the log's time would stand still for as long, and a dead node would keep
 * its share; if it were stepped forward, records that are not old would count as stale. The first record of a boot
 * takes the wall clock's time, because nothing else tells how long the machine was off, but never a time before the
 * log's newest record.
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
