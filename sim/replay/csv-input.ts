import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { peeked } from './peeked.js';
import { asText } from './text-bytes.js';
import { type TraceLocation, traceMistake } from './trace-mistake.js';

/** CSV bytes, and their delimiter. */
export interface CsvInput {
  readonly bytes: Readable;
  readonly delimiter: string;
  /** Header's line, from 1. */
  readonly headerLine: number;
}

export async function openCsv(
  input: Readable,
  file: string,
  { time, delimiter }: { readonly time: string; readonly delimiter?: string | undefined },
): Promise<CsvInput> {
  const packed = await peeked(input, hasMagic);
  const isGzip = packed.head[0] === 0x1f && packed.head[1] === 0x8b;
  const unpacked = () => Readable.from(unpackedChunks(packed.bytes, file), { objectMode: false });
  const plain = await peeked(isGzip ? unpacked() : packed.bytes, hasMagic);
  refuseOtherFormats(plain.head, file);
  const { head, bytes } = await peeked(asText(plain, file), hasTwoLines);
  const lines = head.toString().split(LINE_END);
  const first = lines.findIndex((line) => line.trim() !== '');
  if (first === -1) {
    throw traceMistake({ file, line: null }, 'the file', 'is empty', 'a header with the names of the columns, rows');
  }
  refuseOtherTexts(lines[first], { file, line: first + 1 });
  const separator = SEPARATOR.exec(lines[first])?.[1];
  if (separator === undefined) {
    return { bytes, delimiter: delimiter ?? delimiterOf(lines[first], time), headerLine: 1 };
  }
  return { bytes, delimiter: delimiter ?? separator, headerLine: first + 2 };
}

const LINE_END = /\r\n|\n|\r/;
/** First line of a spreadsheet. */
const SEPARATOR = /^"?sep=(.)"?\s*$/i;
const DELIMITERS = [',', ';', '\t', '|'];
const MAGIC_BYTES = 16;

/** Guesses the delimiter: the first that yields the column, else the one that divides most. */
function delimiterOf(header: string, time: string): string {
  const divided = DELIMITERS.map((delimiter) =>
    header.split(delimiter).map((name) => name.trim().replace(/^"|"$/g, '').normalize()),
  );
  const at = divided.findIndex((names) => names.includes(time.normalize()));
  const most = Math.max(...divided.map((names) => names.length));
  return DELIMITERS[at === -1 ? divided.findIndex((names) => names.length === most) : at];
}

/** Tests for a line `sep=;` above the header. */
function hasTwoLines(head: Buffer): boolean {
  const lines = head.toString().split(LINE_END);
  return lines.filter((line) => line.trim() !== '').length > 2;
}

function hasMagic(head: Buffer): boolean {
  return head.length >= MAGIC_BYTES;
}

async function* unpackedChunks(packed: Readable, file: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  packed.on('error', (error) => gunzip.destroy(error));
  try {
    yield* packed.pipe(gunzip) as AsyncIterable<Buffer>;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_') !== true) throw error;
    const problem = `cannot be unpacked (${message})`;
    throw traceMistake({ file, line: null }, 'the file', problem, 'gzip, whole, or plain text');
  } finally {
    packed.destroy();
  }
}

function refuseOtherFormats(head: Buffer, file: string): void {
  const format = OTHER_FORMATS.find(([, magic]) => head.subarray(0, magic.length).equals(magic));
  if (format === undefined) return;
  throw traceMistake({ file, line: null }, 'the file', `is ${format[0]}`, 'CSV as text, or packed by gzip');
}

const OTHER_FORMATS: readonly (readonly [string, Buffer])[] = [
  ['a ZIP archive or a spreadsheet', Buffer.from('PK\x03\x04', 'latin1')],
  ['packed by zstd', Buffer.from('28b52ffd', 'hex')],
  ['packed by xz', Buffer.from('fd377a585a00', 'hex')],
  ['packed by bzip2', Buffer.from('BZh', 'latin1')],
  ['a recording that is packed: unpack it first', Buffer.from('qmrec001', 'latin1')],
  ['Parquet', Buffer.from('PAR1', 'latin1')],
  ['packed by gzip twice', Buffer.from('1f8b', 'hex')],
  ['PDF', Buffer.from('%PDF-', 'latin1')],
  ['a database of SQLite', Buffer.from('SQLite format 3\0', 'latin1')],
];

/** Refuses other texts by their first line, with a remedy. */
function refuseOtherTexts(line: string, location: TraceLocation): void {
  const found = OTHER_TEXTS.find(([, pattern]) => pattern.test(line));
  if (found !== undefined) throw traceMistake(location, 'the file', `is ${found[0]}`, `CSV; ${found[2]}`);
}

const OTHER_TEXTS: readonly (readonly [string, RegExp, string])[] = [
  ['JSON', /^\s*(\{\s*("|$)|\[\s*([[{]|$))/, "e.g. `jq -r '[.time, .bytes] | @csv'` behind a header"],
  ['HTML or XML', /^\s*<(!doctype|html|\?xml)/i, 'perhaps the page of a login'],
  [
    'an access log of a web server',
    /^\S+ \S+ .*\[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4}\] "/,
    'a header, times as 2023-11-16 18:17:03 or in seconds, a column for each figure',
  ],
  ['a log with directives', /^#(Software|Version|Fields|Date):/, 'a header in the place of the lines with #'],
];
