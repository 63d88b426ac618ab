import { closeSync, openSync, writeSync } from 'node:fs';
import { pino, stdTimeFunctions } from 'pino';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { ShareDecision, Telemetry } from '../../base/ports/telemetry.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { Scrubber } from './scrubber.js';

/** Log of a node process: JSON lines on standard output, and the decision log. */
export interface NodeLog extends Telemetry {
  fatal(message: string, facts?: Readonly<Record<string, unknown>>): void;
  /** Hides the secrets of a newly read configuration from now on. */
  hide(config: ResolvedConfig): void;
  /** Writes buffered lines; gives up after `timeoutMs`, as nobody may read. */
  close(timeoutMs: number): Promise<void>;
  /** Writes everything at once, before a crash. */
  flushSync(): void;
}

export function createNodeLog(config: ResolvedConfig, fileDescriptor = 1): NodeLog {
  // Asynchronous, so that a stuck reader (frozen terminal, full pipe) does not stop admission. Lines are written as
  // made; unread ones are bounded, the newest are lost.
  const destination = pino.destination({ dest: fileDescriptor, sync: false, minLength: 0, maxLength: BACKLOG_MAX });
  const scrubber = new Scrubber(config);
  const logger = pino(
    {
      level: config.log.level,
      base: { cluster: config.cluster, node: config.nodeId, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET_PATHS, censor: '***' },
      hooks: { streamWrite: (line) => scrubber.clean(line) },
    },
    destination,
  );
  const decisions = config.log.decisionsFile === null ? null : new DecisionLog(config.log.decisionsFile, config.nodeId);
  const log: NodeLog = {
    log: (level, message, facts = {}) => logger[level](facts, message),
    fatal: (message, facts = {}) => logger.fatal(facts, message),
    hide: (changed) => scrubber.take(changed),
    flushSync: () => destination.flushSync(),
    close: (timeoutMs) => {
      decisions?.close();
      return drained(destination, timeoutMs);
    },
  };
  if (decisions === null) return log;
  return { ...log, decided: (decision: ShareDecision) => decisions.write(decision) };
}

/** Most characters that wait for a stuck reader. */
const BACKLOG_MAX = 4 * 1024 * 1024;

const SECRETS = ['password', 'passphrase', 'sasl.password', 'sasl.clientSecret', 'tls.key', 'tls.passphrase', 'hmac'];
const SECRET_PATHS = SECRETS.flatMap((path) => [path, `*.${path}`]);

type Destination = ReturnType<typeof pino.destination>;

function drained(destination: Destination, timeoutMs: number): Promise<void> {
  return new Promise((resolve) => {
    // Else pino flushes once more at the exit, synchronously and for ever.
    const giveUp = setTimeout(() => {
      destination.destroy();
      resolve();
    }, timeoutMs);
    destination.on('close', () => {
      clearTimeout(giveUp);
      resolve();
    });
    destination.end();
  });
}

/**
 * Writes every change of an own share as a JSON line `{"t": …, "node": …, …}`. t = epoch milliseconds with fraction, of
 * the monotonic clock, so that nodes of one machine can be merged. Each line is written at once (about 10 µs of the
 * event loop), to survive a kill -9.
 */
class DecisionLog {
  readonly #nodeId: string;
  #file: number | null;

  constructor(path: string, nodeId: string) {
    this.#nodeId = nodeId;
    try {
      this.#file = openSync(path, 'a', 0o600);
    } catch (error) {
      throw new QuotameshError('FILE_UNWRITABLE', { path, reason: (error as Error).message }, { cause: error });
    }
  }

  write(decision: ShareDecision): void {
    if (this.#file === null) return;
    const t = performance.timeOrigin + performance.now();
    try {
      writeSync(this.#file, `${JSON.stringify({ t, node: this.#nodeId, ...decision })}\n`);
    } catch {
      // A full disk costs the decision log, not the node.
      this.close();
    }
  }

  close(): void {
    if (this.#file !== null) closeSync(this.#file);
    this.#file = null;
  }
}
