import { EXIT_UNEXPECTED } from '../../../base/errors/error-row.js';
import { InvariantError } from '../../../core/base/invariant.js';
import type { NodeLog } from '../../../doors/telemetry/node-log.js';

export interface Incidents {
  /** Rejections of promises that nobody awaited, and that the node has survived. */
  unhandledRejections: number;
}

/**
 * What nobody caught. An exception leaves unknown state behind, so the process ends with 1 and its supervisor starts it
 * again. A rejected promise that nobody awaits does not: the Kafka client has such promises in its crash handling
 * (disconnecting while it restarts), and they must not take the node with them. Invariants end it either way.
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
