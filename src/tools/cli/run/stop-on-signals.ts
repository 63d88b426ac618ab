import { constants } from 'node:os';
import { EXIT_OK, EXIT_UNEXPECTED } from '../../../base/errors/error-row.js';
import type { NodeLog } from '../../../doors/telemetry/node-log.js';

export interface Stop {
  readonly begun: boolean;
  /** Stops in order and ends the process. */
  now(exitCode: number): Promise<never>;
}

/**
 * Stops in order at SIGTERM and SIGINT, exit code 0. A second signal after more than a second ends the process at once,
 * with 128 + its number; an earlier one is the same Ctrl-C twice (from terminal and parent).
 */
export function stopOnSignals(log: NodeLog, close: () => Promise<void>): Stop {
  let stopping: Promise<never> | null = null;
  let firstMs = 0;
  const stop: Stop = {
    get begun() {
      return stopping !== null;
    },
    now: (exitCode) => {
      stopping ??= stopInOrder(log, close, exitCode);
      return stopping;
    },
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping === null) {
        firstMs = performance.now();
        log.log('info', 'stopping', { signal });
        void stop.now(EXIT_OK);
      } else if (performance.now() - firstMs > SAME_SIGNAL_MS) {
        endAtOnce(signal);
      }
    });
  }
  return stop;
}

const SAME_SIGNAL_MS = 1000;

/**
 * Ends by the signal itself: `process.exit` waits for libuv's threads, one of which may hang. Process 1 of a container,
 * immune to its signals, exits.
 */
function endAtOnce(signal: 'SIGTERM' | 'SIGINT'): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(128 + constants.signals[signal]);
}

/** Milliseconds for the unforeseen; closing's parts are bounded (farewell 1.5 s, topic 2 s, HTTP 0.5 s). */
const STOP_TIMEOUT_MS = 4300;
const LOG_TIMEOUT_MS = 400;

/** Milliseconds that supervisors must wait before a kill, as the units of deploy/ do. */
export const STOP_WITHIN_MS = STOP_TIMEOUT_MS + LOG_TIMEOUT_MS;

async function stopInOrder(log: NodeLog, close: () => Promise<void>, exitCode: number): Promise<never> {
  let code = exitCode;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not closed within ${STOP_TIMEOUT_MS} ms`)), STOP_TIMEOUT_MS);
  });
  try {
    await Promise.race([close(), timeout]);
    log.log('info', 'stopped');
  } catch (error) {
    code = code === EXIT_OK ? EXIT_UNEXPECTED : code;
    log.log('error', 'closing failed', { reason: error instanceof Error ? error.message : String(error) });
  }
  clearTimeout(timer);
  await log.close(LOG_TIMEOUT_MS);
  return process.exit(code);
}

/** Milliseconds between looks for the parent; more notices its end later. */
const LOOK_MS = 200;

/**
 * Stops a node of npm whose parent is gone. `npx quotamesh run` runs it below a shell, which ends at SIGTERM without
 * passing it on: the node would keep its port and share. Nodes started otherwise (nohup, a daemon) outlive parents on
 * purpose.
 */
export function stopWithNpm(stop: () => void): void {
  if (process.env.npm_command === undefined) return;
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    stop();
  }, LOOK_MS);
  look.unref();
}
