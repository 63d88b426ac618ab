import type { Socket } from 'node:net';
import { MalformedAnswer } from './malformed-answer.js';

export interface AnswerBounds {
  /**
   * Returns the bytes of whole answers in front, not shown again. Throws MalformedAnswer where they cannot become
   * answers, or too long ones.
   */
  wholeBytes(bytes: Buffer): number;
}

/**
 * Checks a server's bytes before its client sees them. Whole answers alone pass. A malformed one ends the connection,
 * and so does an exception of the library's listener. *Worked:* 13 bytes announce a bulk of 2 GiB: the connection ends,
 * nothing was kept. *Why:* kafkajs and ioredis keep whatever is announced.
 */
export function guardAnswers(socket: Socket, bounds: AnswerBounds, onMalformed: (why: MalformedAnswer) => void): void {
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

/** Keeps the beginning of an answer in a room that doubles: single bytes cost no object. */
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

  /** Keeps the bytes from `from` on; those before are handed on, and not overwritten. */
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
