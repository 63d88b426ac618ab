import { openSync, readSync } from 'node:fs';
import { type Clock, monotonicClock } from '../../base/ports/clock.js';

/** A look counts only if both clocks are read within this time: a pause between them would look like a suspend. */
const LOOK_MS_MAX = 20;
/** A shorter suspend is counted together with the next one, because `/proc/uptime` has only hundredths of a second. */
const NOTICED_MS = 100;

/**
 * A monotonic clock that counts the time for which the machine was suspended.
 *
 * Node's clock on Linux is CLOCK_MONOTONIC, which stands still during a suspend. A node that woke after an hour would
 * believe that its share was confirmed a moment ago. The time since the machine's start (CLOCK_BOOTTIME,
 * `/proc/uptime`) goes on; what it gains over the monotonic clock was a suspend. Reading it takes 3 µs, so it is read
 * in every step of the coordinator and not for every request; a call of `clock` itself costs an addition.
 *
 * macOS does not need this, because its clock (`mach_continuous_time`, libuv since 1.38) goes on during sleep. Nor does
 * Windows on most machines, where the performance counter goes on.
 */
export class WakingClock {
  /** The suspended time that `look` has found so far, ms. */
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
      // Until the first suspend the number is handed on, because a sum would be a second double on the heap.
      return this.suspendedMs === 0 ? steadyMs : steadyMs + this.suspendedMs;
    };
    this.#leadMs = this.#read();
  }

  /** Adds the time for which the machine was suspended since the last look. */
  look(): void {
    const leadMs = this.#read();
    if (leadMs === null) return;
    this.#leadMs ??= leadMs;
    const sleptMs = leadMs - this.#leadMs;
    if (sleptMs < NOTICED_MS) return;
    this.suspendedMs += sleptMs;
    this.#leadMs = leadMs;
  }

  /** How far the time since the machine's start is ahead of the monotonic clock, ms; null = not known now. */
  #read(): number | null {
    const beforeMs = this.#steady();
    const uptimeMs = this.#uptimeMs();
    const tookMs = this.#steady() - beforeMs;
    return uptimeMs === null || tookMs > LOOK_MS_MAX ? null : uptimeMs - beforeMs;
  }
}

/** Reads a file that stays open, because `os.uptime` opens it every time, which costs three times as much. */
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
/** One descriptor for all nodes of a process, however many are made and closed in it. It stays open until the process ends. */
let uptimeFile: number | undefined;

function openedUptime(): number {
  if (process.platform !== 'linux') return NOT_THERE;
  try {
    return openSync('/proc/uptime', 'r');
  } catch {
    return NOT_THERE;
  }
}
