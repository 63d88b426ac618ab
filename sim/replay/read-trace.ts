import type { Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { type CsvInput, openCsv } from './csv-input.js';
import { inOrder } from './in-order.js';
import { TimeColumn } from './time-column.js';
import type { TraceArrival, TraceFound, TraceOptions } from './trace.js';
import { amountIn, resolveColumns, type TraceColumns } from './trace-columns.js';
import { traceMistake } from './trace-mistake.js';

const ROW_BYTES_MAX = 1024 * 1024;

/**
 * Streams a CSV in bounded memory, in time order; the first mistake ends it with TRACE_INVALID.
 * @param file for messages
 * @param onBegun called at the first row
 */
export function readTrace(
  input: Readable,
  file: string,
  options: TraceOptions,
  onBegun: (found: TraceFound) => void = () => undefined,
): AsyncIterable<TraceArrival> {
  return inOrder(rowsOf(input, file, options, onBegun), file, options);
}

async function* rowsOf(
  input: Readable,
  file: string,
  options: TraceOptions,
  onBegun: (found: TraceFound) => void,
): AsyncGenerator<TraceArrival> {
  const csv = await openCsv(input, file, options);
  let columns: TraceColumns | null = null;
  let times: TimeColumn | null = null;
  let rowNumber = 0;
  for await (const { record, info } of parsed(csv, file)) {
    const location = { file, line: info.lines };
    if (columns === null) {
      columns = resolveColumns(record, { ...options, delimiter: csv.delimiter }, location);
      continue;
    }
    if (record.length !== columns.names.length) {
      const allowed = `${columns.names.length}, as in the header`;
      throw traceMistake(location, 'the row', `has ${record.length} fields`, allowed);
    }
    const text = record[columns.time];
    if (times === null) {
      times = new TimeColumn(text, options, location);
      onBegun({ ...times.found, delimiter: csv.delimiter });
    }
    const elapsed = times.read(text, location);
    yield {
      atMs: elapsed / options.speed,
      node: columns.nodeOf(record, rowNumber++),
      messages: amountIn(columns.messages, record, columns, location),
      bytes: amountIn(columns.bytes, record, columns, location),
      key: columns.keyOf(record, location),
      retryAfterMs: columns.retryAfterOf(record, location) / options.speed,
      line: info.lines,
    };
  }
  if (times === null) throw traceMistake({ file, line: null }, 'the file', 'has a header only', 'at least one row');
}

interface Parsed {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

async function* parsed({ bytes, delimiter, headerLine }: CsvInput, file: string): AsyncGenerator<Parsed> {
  // Line behind the last row read, empty lines not counted: the parser has read on when it yields a row.
  let filled = headerLine;
  const parser = parse({
    info: true,
    skip_empty_lines: true,
    trim: true,
    relax_column_count: true,
    delimiter,
    from_line: headerLine,
    max_record_size: ROW_BYTES_MAX,
    on_record: (record, { lines, empty_lines: empty }) => {
      filled = lines + 1 - empty;
      return record;
    },
  });
  bytes.on('error', (error) => parser.destroy(error));
  try {
    yield* bytes.pipe(parser) as AsyncIterable<Parsed>;
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const reason = error.code.replace(/^CSV_/, '').replaceAll('_', ' ').toLowerCase();
    // The row's first line: an open quote is noticed at the file's end.
    const line = filled + Number(error.empty_lines);
    throw traceMistake({ file, line }, 'the row', `is no CSV (${reason})`, 'RFC 4180, quotes closed');
  } finally {
    bytes.destroy();
  }
}
