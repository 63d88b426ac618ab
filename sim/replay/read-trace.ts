import type { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { inOrder } from './in-order.js';
import type { TraceArrival, TraceOptions } from './trace.js';
import { amountIn, resolveColumns, type TraceColumns } from './trace-columns.js';
import { quoted, traceMistake } from './trace-mistake.js';
import { elapsedMs, parseTime, TIME_ALLOWED, type TraceTime } from './trace-time.js';

/** A row is a line of figures; this is for a quote that never ends. */
const ROW_BYTES_MAX = 1024 * 1024;

/**
 * Reads a CSV with a header as a stream, in memory that does not depend on its length. Arrivals come in order of time;
 * the first mistake ends it with TRACE_INVALID.
 * @param file for messages
 * @param onBegun called with the time of the first row
 */
export function readTrace(
  input: Readable,
  file: string,
  options: TraceOptions,
  onBegun: (ms: number) => void = () => undefined,
): AsyncIterable<TraceArrival> {
  return inOrder(rowsOf(input, file, options, onBegun), file, options);
}

async function* rowsOf(
  input: Readable,
  file: string,
  options: TraceOptions,
  onBegun: (ms: number) => void,
): AsyncGenerator<TraceArrival> {
  let columns: TraceColumns | null = null;
  let begin: TraceTime | null = null;
  let rowNumber = 0;
  for await (const { record, info } of parsed(input, file, options)) {
    const location = { file, line: info.lines };
    if (columns === null) {
      columns = resolveColumns(record, options, location);
      continue;
    }
    if (record.length !== columns.names.length) {
      throw traceMistake(
        location,
        'the row',
        `has ${record.length} fields`,
        `${columns.names.length}, as in the header`,
      );
    }
    const text = record[columns.time] as string;
    const time = parseTime(text, options.timeFormat);
    if (time === null)
      throw traceMistake(location, options.time, `is ${quoted(text)}`, TIME_ALLOWED[options.timeFormat]);
    if (begin === null) {
      begin = time;
      onBegun(time.ms);
    }
    yield {
      atMs: elapsedMs(begin, time) / options.speed,
      node: columns.nodeOf(record, rowNumber++),
      messages: amountIn(columns.messages, record, columns, location),
      bytes: amountIn(columns.bytes, record, columns, location),
      key: columns.keyOf(record, location),
      retryAfterMs: columns.retryAfterOf(record, location) / options.speed,
      line: info.lines,
    };
  }
  const location = { file, line: null };
  if (columns === null)
    throw traceMistake(location, 'the file', 'is empty', 'a header with the names of the columns, rows');
  if (begin === null) throw traceMistake(location, 'the file', 'has a header only', 'at least one row');
}

interface Parsed {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

async function* parsed(input: Readable, file: string, { delimiter }: TraceOptions): AsyncGenerator<Parsed> {
  const parser = parse({
    bom: true,
    info: true,
    skip_empty_lines: true,
    trim: true,
    relax_column_count: true,
    delimiter,
    max_record_size: ROW_BYTES_MAX,
  });
  input.on('error', (error) => parser.destroy(error));
  try {
    yield* input.pipe(parser) as AsyncIterable<Parsed>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { lines } = error as CsvError & { readonly lines?: number };
    const reason = error.code.replace(/^CSV_/, '').replaceAll('_', ' ').toLowerCase();
    throw traceMistake({ file, line: lines ?? null }, 'the row', `is no CSV (${reason})`, 'RFC 4180, quotes closed');
  } finally {
    input.destroy();
  }
}
