import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { traceMistake } from './trace-mistake.js';

/** Bytes of CSV, and how its fields are divided. */
export interface CsvInput {
  readonly bytes: Readable;
  readonly delimiter: string;
  /** Line of the header, from 1. */
  readonly headerLine: number;
}

/**
 * Opens what people call a CSV: packed by gzip or not, with a line `sep=;` of a spreadsheet or without. Unless the
 * delimiter is given, it is the one that gives the header a column of the time.
 */
export async function openCsv(
  input: Readable,
  file: string,
  { time, delimiter }: { readonly time: string; readonly delimiter?: string | undefined },
): Promise<CsvInput> {
  const packed = await peeked(input, (head) => head.length >= MAGIC_BYTES);
  const isGzip = packed.head[0] === 0x1f && packed.head[1] === 0x8b;
  const { head, bytes } = isGzip ? await peeked(unpacked(packed.bytes, file), hasTwoLines) : await again(packed);
  refuseOtherFormats(head, file);
  const lines = textOf(head).split(LINE_END);
  const first = lines.findIndex((line) => line.trim() !== '');
  const separator = SEPARATOR.exec(lines[first] ?? '')?.[1];
  if (separator === undefined) {
    const header = lines[first] ?? '';
    return { bytes, delimiter: delimiter ?? delimiterOf(header, time), headerLine: 1 };
  }
  return { bytes, delimiter: delimiter ?? separator, headerLine: first + 2 };
}

const LINE_END = /\r\n|\n|\r/;
/** The first line that a spreadsheet writes. */
const SEPARATOR = /^"?sep=(.)"?\s*$/i;
const DELIMITERS = [',', ';', '\t', '|'];
const MAGIC_BYTES = 8;
/** A longer header is no line of names. */
const HEAD_BYTES_MAX = 1024 * 1024;

/** The first that gives a column of this name; else the one that divides most, for a mistake that lists the columns. */
function delimiterOf(header: string, time: string): string {
  const divided = DELIMITERS.map((delimiter) =>
    header.split(delimiter).map((name) => name.trim().replace(/^"|"$/g, '')),
  );
  const at = divided.findIndex((names) => names.includes(time));
  const most = Math.max(...divided.map((names) => names.length));
  return DELIMITERS[at === -1 ? divided.findIndex((names) => names.length === most) : at]!;
}

interface Peeked {
  readonly head: Buffer;
  /** All of it, the head too. */
  readonly bytes: Readable;
}

function again({ bytes }: Peeked): Promise<Peeked> {
  return peeked(bytes, hasTwoLines);
}

/** Reads until that is enough, or there is no more. */
async function peeked(input: Readable, isEnough: (head: Buffer) => boolean): Promise<Peeked> {
  const chunks = input[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let head: Buffer = Buffer.alloc(0);
  while (!isEnough(head) && head.length < HEAD_BYTES_MAX) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  return { head, bytes: Readable.from(following(head, chunks, input), { objectMode: false }) };
}

async function* following(head: Buffer, chunks: AsyncIterator<Buffer>, input: Readable): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  } finally {
    input.destroy();
  }
}

/** The header may stand below a line `sep=;`. */
function hasTwoLines(head: Buffer): boolean {
  return (
    textOf(head)
      .split(LINE_END)
      .filter((line) => line.trim() !== '').length > 2
  );
}

function textOf(head: Buffer): string {
  const isUtf16 = head[0] === 0xff && head[1] === 0xfe;
  return head.toString(isUtf16 ? 'utf16le' : 'utf8').replace(/^\ufeff/, '');
}

async function* unpackedChunks(packed: Readable, file: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip();
  packed.on('error', (error) => gunzip.destroy(error));
  try {
    yield* packed.pipe(gunzip) as AsyncIterable<Buffer>;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code?.startsWith('Z_') !== true) throw error;
    throw traceMistake(
      { file, line: null },
      'the file',
      `cannot be unpacked (${message})`,
      'gzip, whole, or plain text',
    );
  } finally {
    packed.destroy();
  }
}

function unpacked(packed: Readable, file: string): Readable {
  return Readable.from(unpackedChunks(packed, file), { objectMode: false });
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
];
