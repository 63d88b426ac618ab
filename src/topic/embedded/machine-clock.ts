import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import type { LogState } from './log-tables.js';

/** What the log's time is made of. Tests give another one. */
export interface MachineClock {
  /** Of all processes for which `steadyMs` is one clock: a boot of the machine, and a time namespace in it. */
  readonly id: number;
  /** The machine's monotonic clock, milliseconds; nobody can step it, and all processes of a boot share it. */
  steadyMs(): number;
  /** What the clock on the wall shows; may be stepped at any time. */
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

/** Differs after every start of the machine. Where the system does not tell (macOS, Windows), it is always the same. */
export async function bootId(): Promise<string> {
  return await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => 'any');
}

/** Beyond rounding; a steady clock that lies behind the log by more began anew with the machine. */
const BEHIND_MS = 1;

/**
 * Moves the log's time up to now. Within a boot it goes as the machine's monotonic clock does, whatever happens to the
 * clock on the wall: stepped back, that one would stop the log's time for as long, and a dead node would keep its
 * share; stepped forward, it would bury what is not old. A boot, and so the log itself, begins with the wall's time,
 * because nothing else tells how long the machine was off, but never behind what the log says already.
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
