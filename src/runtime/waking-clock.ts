import { openSync, readSync } from 'node:fs';
import type { Clock } from '../ports/clock.js';

/** Both clocks are read within as much, or this look does not count: a pause in between would pass for a suspend. */
const LOOK_MS_MAX = 20;
/** `/proc/uptime` has hundredths of a second; a shorter suspend waits for the next to be counted with. */
const NOTICED_MS = 100;

/**
 * A monotonic clock that counts the time for which the machine was suspended.
 *
 * Linux's CLOCK_MONOTONIC, which is Node's, stands still meanwhile: whoever wakes after an hour would take its share for
 * confirmed a moment ago, and what others did in that hour for not done. The time since the machine's start goes on
 * (CLOCK_BOOTTIME, `/proc/uptime`); what it gained over the monotonic clock was a suspend. Reading it takes 3 µs, and so
 * is done in every step of the coordinator and not for every request: `clock` itself costs an addition.
 *
 * macOS needs none of this: its clock is `mach_continuous_time`, which goes on (libuv since 1.38). Nor is it done on
 * Windows, whose performance counter goes on on most machines.
 */
export class WakingClock {
  /** What `look` has found so far. */
  suspendedMs = 0;
  readonly clock: Clock;
  readonly #steady: Clock;
  readonly #uptimeMs: () => number | null;
  #leadMs: number | null;

  constructor(steady: Clock = () => performance.now(), uptimeMs: () => number | null = linuxUptime()) {
    this.#steady = steady;
    this.#uptimeMs = uptimeMs;
    this.clock = () => steady() + this.suspendedMs;
    this.#leadMs = this.#read();
  }

  /** Counts what was slept since the last look. */
  look(): void {
    const leadMs = this.#read();
    if (leadMs === null) return;
    this.#leadMs ??= leadMs;
    const sleptMs = leadMs - this.#leadMs;
    if (sleptMs < NOTICED_MS) return;
    this.suspendedMs += sleptMs;
    this.#leadMs = leadMs;
  }

  /** By how much the time since the start of the machine is ahead; null = not known now. */
  #read(): number | null {
    const beforeMs = this.#steady();
    const uptimeMs = this.#uptimeMs();
    const tookMs = this.#steady() - beforeMs;
    return uptimeMs === null || tookMs > LOOK_MS_MAX ? null : uptimeMs - beforeMs;
  }
}

/** One read of an open file: `os.uptime` opens it each time, for three times the cost. */
function linuxUptime(): () => number | null {
  if (process.platform !== 'linux') return () => null;
  const text = Buffer.alloc(64);
  let file: number;
  try {
    file = openSync('/proc/uptime', 'r');
  } catch {
    return () => null;
  }
  return () => {
    const length = readSync(file, text, 0, text.length, 0);
    return Number.parseFloat(text.toString('latin1', 0, length)) * 1000;
  };
}
