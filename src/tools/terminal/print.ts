import { QuotameshError } from '../../base/errors/quotamesh-error.js';

export function print(...lines: readonly string[]): void {
  if (lines.length > 0) process.stdout.write(`${lines.join('\n')}\n`);
}

/** Makes the error of a command line that cannot be followed. */
export function usage(reason: string): QuotameshError {
  return new QuotameshError('USAGE', { reason });
}
