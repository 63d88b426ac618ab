import { constants } from 'node:os';
import { EXIT_OK, EXIT_UNEXPECTED } from '../../../base/errors/error-row.js';
import type { NodeLog } from '../../../doors/telemetry/node-log.js';

export interface Stop {
  readonly begun: boolean;
  /** Stops in order and ends the process. */
  now(exitCode: number): Promise<never>;
}

/**
 * SIGTERM and SIGINT stop the node in order, exit code 0. A second signal more than a second after the first ends the
 * process at once, exit status 128 + its number; an earlier one is the same Ctrl-C delivered twice (a terminal sends it to the
 * whole group, and so does a parent that passes it on), and is ignored.
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
 * By the signal itself, as if it had no handler: `process.exit` waits for the threads of libuv's pool, and one of them may
 * hang in what made somebody impatient. Process 1 of a container is immune to its own signals; it takes the other way.
 */
function endAtOnce(signal: 'SIGTERM' | 'SIGINT'): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(128 + constants.signals[signal]);
}

/** All that closing takes is bounded (farewell 1.5 s, topic 2 s, HTTP 0.5 s); this is for what nobody foresaw. */
const STOP_TIMEOUT_MS = 4300;
const LOG_TIMEOUT_MS = 400;

/** A supervisor that stops a node must wait so long before it kills it: the units of deploy/ do. */
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

/** Bounds how late the end of the parent is noticed; more looks for it less often. */
const LOOK_MS = 200;

/**
 * Stops a node that npm has started when its parent is gone. `npx quotamesh run` and scripts of package.json run the
 * command below a shell. npm passes a SIGTERM to that shell, which ends without telling the node, so the node would go
 * on without a parent and hold its port and its share. A node that was started otherwise (nohup, a daemon) outlives its
 * parent on purpose.
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
