import { printable } from '../../src/base/errors/printable.js';
import { QuotameshError } from '../../src/base/errors/quotamesh-error.js';

/** Where something is wrong with a trace. */
export interface TraceLocation {
  readonly file: string;
  /** Counted from 1; null = the flag that names the field. */
  readonly line: number | null;
}

/** `calls.csv:17: TIMESTAMP is "soon"; allowed: …` */
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

/** A text of somebody else's file in a message of ours: short, and nothing a terminal would act on. */
export function quoted(text: string): string {
  return printable(JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text));
}
