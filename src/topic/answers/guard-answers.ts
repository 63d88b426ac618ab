import type { Socket } from 'node:net';
import { MalformedAnswer } from './malformed-answer.js';

/** Knows where answers end. It has state: it looks at each byte once. */
export interface AnswerBounds {
  /**
   * Returns how many bytes at the front are whole answers; they are not shown again.
   * Throws MalformedAnswer where they cannot become answers, or would become too long.
   */
  wholeBytes(bytes: Buffer): number;
}

/**
 * Checks what a server sends before the client's library sees it, and gives it whole answers alone. A malformed answer
 * ends the connection, and so does an exception of the library's own listener, which would end the process.
 *
 * *Worked:* a bulk of 2 GiB is announced in 13 bytes: the connection ends, and nothing was kept.
 *
 * *Why:* kafkajs and ioredis keep whatever is announced, and keep single bytes as a buffer each.
 */
export function guardAnswers(
  socket: Socket,
  bounds: AnswerBounds,
  onMalformed: (error: MalformedAnswer) => void,
): void {
  const emit = socket.emit.bind(socket) as (event: string | symbol, ...values: unknown[]) => boolean;
  const kept = new KeptBytes();
  let isEnded = false;
  const guarded = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event !== 'data') return emit(event, ...values);
    if (isEnded) return true;
    try {
      const bytes = kept.with(values[0] as Buffer);
      const whole = bounds.wholeBytes(bytes);
      kept.keep(bytes, whole);
      return whole === 0 || emit('data', bytes.subarray(0, whole));
    } catch (error) {
      isEnded = true;
      kept.keep(NOTHING, 0);
      const malformed = asMalformed(error);
      onMalformed(malformed);
      socket.destroy(malformed);
      return true;
    }
  };
  socket.emit = guarded as typeof socket.emit;
}

export function asMalformed(error: unknown): MalformedAnswer {
  if (error instanceof MalformedAnswer) return error;
  return new MalformedAnswer('undecodable', error instanceof Error ? error.message : String(error), { cause: error });
}

const NOTHING = Buffer.alloc(0);
const ROOM_BYTES_MIN = 1024;

/** The beginning of an answer, in a room that doubles: bytes that come singly cost no object each. */
class KeptBytes {
  #room = NOTHING;
  #length = 0;

  with(chunk: Buffer): Buffer {
    if (this.#length === 0) return chunk;
    const length = this.#length + chunk.length;
    if (length > this.#room.length) this.#grow(length);
    chunk.copy(this.#room, this.#length);
    this.#length = length;
    return this.#room.subarray(0, length);
  }

  /** Keeps what stands behind `from`. The bytes before it are handed on, and their memory is not written again. */
  keep(bytes: Buffer, from: number): void {
    if (from === 0 && this.#length > 0 && bytes.length === this.#length) return;
    this.#length = 0;
    this.#room = NOTHING;
    if (from >= bytes.length) return;
    this.#grow(bytes.length - from);
    this.#length = bytes.copy(this.#room, 0, from);
  }

  #grow(length: number): void {
    const larger = Buffer.allocUnsafe(Math.max(ROOM_BYTES_MIN, 2 * length));
    this.#room.copy(larger, 0, 0, this.#length);
    this.#room = larger;
  }
}
