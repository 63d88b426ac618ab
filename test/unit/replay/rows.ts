import { Readable } from 'node:stream';
import { readTrace } from '../../../sim/replay/read-trace.js';
import type { TraceArrival, TraceOptions } from '../../../sim/replay/trace.js';

export const OPTIONS: TraceOptions = {
  time: 'time',
  timeFormat: 'auto',
  messages: '1',
  bytes: '0',
  speed: 1,
  nodes: 3,
  by: 'hash',
  delimiter: ',',
};

/** Reads the rows of a text, whole or in small chunks. Small chunks end within every kind of value. */
export async function rowsOf(
  text: string | Buffer,
  options: Partial<TraceOptions> = {},
  isWhole = false,
): Promise<TraceArrival[]> {
  const bytes = Buffer.from(text);
  const size = isWhole ? Math.max(1, bytes.length) : bytes.length < 1000 ? 7 : 997;
  const count = Math.ceil(bytes.length / size);
  const chunks = Array.from({ length: count }, (_, at) => bytes.subarray(size * at, size * at + size));
  return Readable.from(readTrace(Readable.from(chunks), 'calls.csv', { ...OPTIONS, ...options })).toArray();
}

export function arrival(atMs: number, node = 0, messages = 1, bytes = 0): TraceArrival {
  return { atMs, node, messages, bytes, key: '', retryAfterMs: 0, line: 2 };
}
