import { EXIT_OK, EXIT_UNEXPECTED } from '../../base/errors/error-row.js';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { ConfigError } from '../../config/setting/config-error.js';

let clean = (text: string): string => text;
let help: string | null = null;

/** From now on mistakes in how a command is used advise this. */
export function adviseHelp(advice: string): void {
  help = advice;
}

/** Ends the process with the message, the remedy and the exit code of an error. */
export function exitWithError(error: unknown): never {
  process.stderr.write(`quotamesh: ${describeError(error)}\n`);
  process.exit(exitCodeOf(error));
}

/** From now on all errors for people pass through this. */
export function cleanErrors(cleanText: (text: string) => string): void {
  clean = cleanText;
}

/** For people: what is wrong, and what to do about it. */
export function describeError(error: unknown): string {
  return clean(textOf(error));
}

function textOf(error: unknown): string {
  if (error instanceof ConfigError) return error.message;
  if (error instanceof QuotameshError) return `${error.message}\n${(error.code === 'USAGE' && help) || error.remedy}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

export function exitCodeOf(error: unknown): number {
  return error instanceof QuotameshError ? error.exitCode : EXIT_UNEXPECTED;
}

/**
 * `quotamesh … | head`: a reader of our output that has gone away has seen enough; that is no failure of ours. One of our
 * messages has only missed them: the exit code still tells.
 */
export function survivePipeEnd(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT_OK);
    throw error;
  });
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
