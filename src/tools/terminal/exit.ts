import { EXIT_OK, EXIT_UNEXPECTED } from '../../base/errors/error-row.js';
import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import { ConfigError } from '../../config/setting/config-error.js';

let clean = (text: string): string => text;
let help: string | null = null;

/** Sets the advice of usage errors. */
export function adviseHelp(advice: string): void {
  help = advice;
}

export function exitWithError(error: unknown): never {
  process.stderr.write(`quotamesh: ${describeError(error)}\n`);
  process.exit(exitCodeOf(error));
}

/** Sets a filter for all errors shown to people. */
export function cleanErrors(cleanText: (text: string) => string): void {
  clean = cleanText;
}

/** Writes an error with its remedy. */
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

/** Survives a gone reader (`quotamesh … | head`), which is no failure; the exit code still counts. */
export function survivePipeEnd(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(EXIT_OK);
    throw error;
  });
  process.stderr.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
