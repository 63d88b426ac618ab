import { Readable } from 'node:stream';

export interface Peeked {
  readonly head: Buffer;
  /** All bytes, the head too. */
  readonly bytes: Readable;
}

/** Reads until that is enough, or the end. */
export async function peeked(input: Readable, isEnough: (head: Buffer) => boolean): Promise<Peeked> {
  const chunks = input[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let head: Buffer = Buffer.alloc(0);
  while (!isEnough(head) && head.length < HEAD_BYTES_MAX) {
    const { value, done } = await chunks.next();
    if (done === true) break;
    head = Buffer.concat([head, value]);
  }
  return { head, bytes: Readable.from(following(head, chunks, input), { objectMode: false }) };
}

const HEAD_BYTES_MAX = 1024 * 1024;

async function* following(head: Buffer, chunks: AsyncIterator<Buffer>, input: Readable): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head;
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
  } finally {
    input.destroy();
  }
}
