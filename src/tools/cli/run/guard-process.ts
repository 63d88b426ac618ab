import { EXIT_UNEXPECTED } from '../../../base/errors/error-row.js';
import { InvariantError } from '../../../core/base/invariant.js';
import type { NodeLog } from '../../../doors/telemetry/node-log.js';

/**
 * Ends the process with 1 at an uncaught exception. Its state is unknown. Logs rejections that nobody awaits, as the
 * Kafka client has them. Invariants end it either way.
 */
export function guardProcess(log: NodeLog): Incidents {
  const incidents: Incidents = { unhandledRejections: 0 };
  process.on('uncaughtException', (error) => crash(error, log));
  process.on('unhandledRejection', (reason) => {
    if (reason instanceof InvariantError) crash(reason, log);
    incidents.unhandledRejections++;
    log.log('error', 'unhandled rejection', factsOf(reason));
  });
  return incidents;
}

interface Incidents {
  /** Rejected promises that nobody awaited, survived. */
  unhandledRejections: number;
}

function crash(error: unknown, log: NodeLog): never {
  log.fatal('unexpected error, the process ends', factsOf(error));
  try {
    log.flushSync();
  } catch {
    // Nobody reads the log any more.
  }
  process.exit(EXIT_UNEXPECTED);
}

function factsOf(error: unknown): Readonly<Record<string, unknown>> {
  if (!(error instanceof Error)) return { reason: String(error) };
  return { reason: error.message, error: error.name, stack: error.stack };
}
