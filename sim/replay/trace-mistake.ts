import { printable } from '../../src/base/errors/printable.js';
import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';

/** Place of a mistake in a trace. */
export interface TraceLocation {
  readonly file: string;
  /** Line from 1; null = the flag. */
  readonly line: number | null;
}

/** Makes `calls.csv:17: TIMESTAMP is "soon"; allowed: …`. */
export function traceMistake(location: TraceLocation, field: string, problem: string, allowed: string): QuotameshError {
  const { file, line } = location;
  return new QuotameshError('TRACE_INVALID', {
    location: line === null ? file : `${file}:${line}`,
    file,
    line: line ?? undefined,
    field,
    problem,
    allowed,
  });
}

/** Quotes a file's text: short and harmless. */
export function quoted(text: string): string {
  return printable(JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text));
}
