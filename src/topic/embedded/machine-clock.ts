import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import type { LogState } from './log-tables.js';

/** The clocks from which the log's time is made. Tests pass others. */
export interface MachineClock {
  /** One id for all processes that share the clock `steadyMs`: one boot of the machine and one time namespace. */
  readonly id: number;
  /** The machine's monotonic clock, milliseconds. Nobody can step it, and all processes of a boot share it. */
  steadyMs(): number;
  /** The wall clock, which may be stepped at any time. */
  wallMs(): number;
}

/**
 * `process.hrtime` counts from the start of the machine on Linux (CLOCK_MONOTONIC), macOS and Windows alike, so that
 * processes may compare it; `performance.now` counts from the start of the process.
 */
export async function machineClock(): Promise<MachineClock> {
  const namespace = await readlink('/proc/self/ns/time').catch(() => '');
  const digest = createHash('sha256')
    .update(`${await bootId()} ${namespace}`)
    .digest();
  return { id: digest.readUIntBE(0, 6), steadyMs: () => Number(process.hrtime.bigint()) / 1e6, wallMs: Date.now };
}

/** Differs after every start of the machine, or is always the same if the system does not tell (macOS, Windows). */
export async function bootId(): Promise<string> {
  return await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'any');
}

/** A steady clock that lies behind the log by more than this began anew with the machine; less is rounding. */
const BEHIND_MS = 1;

/**
 * Moves the log's time up to now. Within a boot the log's time follows the machine's monotonic clock and not the wall
 * clock. A wall clock that is stepped back would stop the log's time for as long, and a dead node would keep its share;
 * one that is stepped forward would bury what is not old. The first record of a boot takes the wall clock's time,
 * because nothing else tells how long the machine was off, but never a time before the log's newest record.
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
