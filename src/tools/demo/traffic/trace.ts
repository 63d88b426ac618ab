import { readFile } from 'node:fs/promises';
import { QuotameshError } from '../../../base/errors/quotamesh-error.js';

/** Request of a recorded trace. */
export interface TraceRow {
  /** Milliseconds of the recording since the first request. */
  readonly atMs: number;
  readonly bytes: number;
}

/** Reads a trace of TIMESTAMP (UTC), ContextTokens, GeneratedTokens; see examples/traces/README.md. */
export async function readTrace(file: string): Promise<TraceRow[]> {
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new QuotameshError('CONFIG_UNREADABLE', { file, reason: error.message }, { cause: error });
  });
  return parseTrace(text, file);
}

export function parseTrace(text: string, file: string): TraceRow[] {
  const [header, ...lines] = text.trimEnd().split(/\r?\n/);
  if (header !== HEADER) throw unreadable(file, 1, `expected the header ${HEADER}`);
  const rows: TraceRow[] = [];
  let beginMs = Number.NaN;
  for (const [index, line] of lines.entries()) {
    const [timestamp = '', context, generated] = line.split(',');
    const stampMs = parseTimestamp(timestamp);
    const bytes = Number(context) + Number(generated);
    if (!Number.isFinite(stampMs) || !(bytes >= 0)) throw unreadable(file, index + 2, `cannot read ${line}`);
    if (index === 0) beginMs = stampMs;
    const atMs = stampMs - beginMs;
    const previous = rows[rows.length - 1];
    if (previous !== undefined && atMs < previous.atMs)
      throw unreadable(file, index + 2, 'rows must be in order of time');
    rows.push({ atMs, bytes });
  }
  if (rows.length < 2) throw unreadable(file, rows.length + 1, 'a trace needs at least two requests');
  return rows;
}

const HEADER = 'TIMESTAMP,ContextTokens,GeneratedTokens';

/** Parses `2023-11-16 18:17:03.9799600`, with the digits below Date's milliseconds. */
function parseTimestamp(text: string): number {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)\.(\d{3})(\d*)$/.exec(text);
  if (match === null) return Number.NaN;
  const [, day, time, milliseconds, below] = match;
  return Date.parse(`${day}T${time}.${milliseconds}Z`) + Number(`0.${below}`);
}

function unreadable(file: string, line: number, reason: string): QuotameshError {
  return new QuotameshError('CONFIG_UNREADABLE', { file, reason: `line ${line}: ${reason}` });
}
