import { pino, stdTimeFunctions } from 'pino';
import type { ShareDecision, Telemetry } from '../../base/ports/telemetry.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import { DecisionLog } from './decision-log.js';
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
