import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import type { Peeked } from './peeked.js';
import { traceMistake } from './trace-mistake.js';

/** Decodes UTF-8, or marked UTF-16, without its mark; other bytes are mistakes, as keys could merge. */
export function asText({ head, bytes }: Peeked, file: string): Readable {
  const mark = head.subarray(0, 2).toString('hex');
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : null;
  const text = encoding === null ? bytes : Readable.from(fromUtf16(bytes, encoding), { objectMode: false });
  return Readable.from(checked(text, file), { objectMode: false });
}

/** Decodes; half surrogates become U+FFFD. */
async function* fromUtf16(bytes: Readable, encoding: string): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding);
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      const text = decoder.decode(chunk, { stream: true });
      if (text !== '') yield Buffer.from(text);
    }
  } finally {
    bytes.destroy();
  }
}

async function* checked(bytes: Readable, file: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let line = 1;
  let isBegin = true;
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      const joined = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      const end = joined.length - unfinished(joined);
      let text = joined.subarray(0, end);
      rest = joined.subarray(end);
      rejectOther(text, line, file);
      line += linesIn(text);
      for (; isBegin && text.subarray(0, MARK.length).equals(MARK); text = text.subarray(MARK.length));
      isBegin &&= text.length === 0;
      if (text.length > 0) yield text;
    }
    rejectOther(rest, line, file);
  } finally {
    bytes.destroy();
  }
}

const MARK = Buffer.from('\ufeff');

function rejectOther(text: Buffer, line: number, file: string): void {
  const nul = text.indexOf(0);
  if (nul === -1 && isUtf8(text)) return;
  const [at, problem, codec, name] =
    nul === -1
      ? [wrongFrom(text), 'no UTF-8', 'LATIN1', 'Latin 1']
      : [nul, 'no text (NUL)', 'UTF-16LE', 'UTF-16 without it'];
  const allowed = `UTF-8, or UTF-16 with its mark; \`iconv -f ${codec} -t UTF-8\` makes it of ${name}`;
  throw traceMistake({ file, line: line + linesIn(text.subarray(0, at)) }, 'the line', `is ${problem}`, allowed);
}

/** Finds the longest UTF-8 beginning, by halves. */
function wrongFrom(text: Buffer): number {
  let [good, bad] = [0, text.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    const part = text.subarray(0, middle);
    if (isUtf8(part.subarray(0, middle - unfinished(part)))) good = middle;
    else bad = middle;
  }
  return good;
}

/** Counts last bytes of an unfinished character. */
function unfinished(text: Buffer): number {
  for (let back = 1; back <= Math.min(3, text.length); back++) {
    const byte = text[text.length - back];
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0;
  }
  return 0;
}

function linesIn(text: Buffer): number {
  let lines = 0;
  for (let at = text.indexOf(NEW_LINE); at !== -1; at = text.indexOf(NEW_LINE, at + 1)) lines++;
  return lines;
}

const NEW_LINE = 10;
