import { openSync, readSync } from 'node:fs';
import { type Clock, monotonicClock } from '../../base/ports/clock.js';

/** Milliseconds between readings of both clocks; a longer pause would look like a suspend. */
const LOOK_MS_MAX = 20;
/** Milliseconds; a shorter suspend counts with the next, as `/proc/uptime` has hundredths of a second. */
const NOTICED_MS = 100;

/**
 * Keeps a monotonic clock that counts suspends of the machine. *Why:* Node's clock on Linux (CLOCK_MONOTONIC) stands
 * still meanwhile: a woken node would take an hour-old share for confirmed. `/proc/uptime` (CLOCK_BOOTTIME) goes on;
 * its gain was a suspend. Reading it takes 3 µs: once per step, while `clock` costs an addition. The clocks of macOS
 * (`mach_continuous_time`) and of most Windows machines go on by themselves.
 */
export class WakingClock {
  /** Milliseconds of suspends that `look` has found. */
  suspendedMs = 0;
  readonly clock: Clock;
  readonly #steady: Clock;
  readonly #uptimeMs: () => number | null;
  #leadMs: number | null;

  constructor(steady: Clock = monotonicClock, uptimeMs: () => number | null = linuxUptime()) {
    this.#steady = steady;
    this.#uptimeMs = uptimeMs;
    this.clock = () => {
      const steadyMs = steady();
      // Before a suspend no sum: it would be a second double on the heap.
      return this.suspendedMs === 0 ? steadyMs : steadyMs + this.suspendedMs;
    };
    this.#leadMs = this.#read();
  }

  /** Adds suspended time since the last look. */
  look(): void {
    const leadMs = this.#read();
    if (leadMs === null) return;
    this.#leadMs ??= leadMs;
    const sleptMs = leadMs - this.#leadMs;
    if (sleptMs < NOTICED_MS) return;
    this.suspendedMs += sleptMs;
    this.#leadMs = leadMs;
  }

  /** Returns milliseconds of uptime ahead of the monotonic clock; null = unknown. */
  #read(): number | null {
    const beforeMs = this.#steady();
    const uptimeMs = this.#uptimeMs();
    const tookMs = this.#steady() - beforeMs;
    return uptimeMs === null || tookMs > LOOK_MS_MAX ? null : uptimeMs - beforeMs;
  }
}

/** Reads a file that stays open: `os.uptime` opens it every time, at three times the cost. */
function linuxUptime(): () => number | null {
  uptimeFile ??= openedUptime();
  const file = uptimeFile;
  if (file === NOT_THERE) return () => null;
  const text = Buffer.alloc(64);
  return () => {
    const length = readSync(file, text, 0, text.length, 0);
    return Number.parseFloat(text.toString('latin1', 0, length)) * 1000;
  };
}

const NOT_THERE = -1;
/** Descriptor of all nodes of a process, open until its end. */
let uptimeFile: number | undefined;

function openedUptime(): number {
  if (process.platform !== 'linux') return NOT_THERE;
  try {
    return openSync('/proc/uptime', 'r');
  } catch {
    return NOT_THERE;
  }
}
