import { QuotameshError } from '../../../base/errors/quotamesh-error.js';

/** Bytes that unfinished messages of all streams hold. */
export interface HeldBudget {
  bytes: number;
  readonly max: number;
}

/**
 * Cuts what arrives into messages: a flag, four bytes of length, the message. A message that one chunk has whole is not
 * copied.
 */
export class MessageReader {
  readonly #maxBytes: number;
  readonly #held: HeldBudget;
  /** Called with each message. */
  readonly #take: (message: Buffer) => void;
  /** Holds the message that is not whole, with its head. */
  #partial: Buffer = NOTHING;
  #filled = 0;

  constructor(maxBytes: number, held: HeldBudget, take: (message: Buffer) => void) {
    this.#maxBytes = maxBytes;
    this.#held = held;
    this.#take = take;
  }

  /** True = a message has begun and is not whole. */
  get isAmid(): boolean {
    return this.#filled > 0;
  }

  /** Throws GRPC_COMPRESSED, GRPC_TOO_LARGE. */
  push(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#filled === 0 && chunk.length - at >= HEAD_BYTES) {
        const end = at + HEAD_BYTES + this.#lengthIn(chunk, at);
        if (end <= chunk.length) {
          this.#take(chunk.subarray(at + HEAD_BYTES, end));
          at = end;
          continue;
        }
      }
      at += this.#collect(chunk, at);
    }
  }

  /** Forgets what has come. */
  close(): void {
    this.#held.bytes -= this.#partial.length;
    this.#partial = NOTHING;
    this.#filled = 0;
  }

  /** Returns how much of the chunk it took. */
  #collect(chunk: Buffer, at: number): number {
    const wanted = this.#filled < HEAD_BYTES ? HEAD_BYTES : HEAD_BYTES + this.#lengthIn(this.#partial, 0);
    const taken = Math.min(wanted - this.#filled, chunk.length - at);
    this.#makeRoom(this.#filled + taken, wanted);
    chunk.copy(this.#partial, this.#filled, at, at + taken);
    this.#filled += taken;
    if (this.#filled < HEAD_BYTES || this.#filled < HEAD_BYTES + this.#lengthIn(this.#partial, 0)) return taken;
    const message = this.#partial.subarray(HEAD_BYTES, this.#filled);
    this.close();
    this.#take(message);
    return taken;
  }

  /** Grows by doubling, so that a length alone makes nobody allocate it. */
  #makeRoom(needed: number, wanted: number): void {
    if (needed <= this.#partial.length) return;
    const size = Math.max(needed, Math.min(wanted, Math.max(LEAST_BYTES, 2 * this.#partial.length)));
    const held = this.#held.bytes + size - this.#partial.length;
    if (held > this.#held.max) throw tooLarge('what has arrived of unfinished messages', this.#held.max);
    const grown = Buffer.allocUnsafeSlow(size);
    this.#partial.copy(grown, 0, 0, this.#filled);
    this.#held.bytes = held;
    this.#partial = grown;
  }

  #lengthIn(bytes: Buffer, at: number): number {
    return lengthIn(bytes, at, this.#maxBytes);
  }
}

/** Returns the message of a chunk that is one; null = it holds less or more. Throws GRPC_COMPRESSED, GRPC_TOO_LARGE. */
export function wholeMessage(chunk: Buffer, maxBytes: number): Buffer | null {
  if (chunk.length < HEAD_BYTES || chunk.length !== HEAD_BYTES + lengthIn(chunk, 0, maxBytes)) return null;
  return chunk.subarray(HEAD_BYTES);
}

/** Puts the head before a message. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + message.length);
  frame[0] = 0;
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, HEAD_BYTES);
  return frame;
}

function lengthIn(bytes: Buffer, at: number, maxBytes: number): number {
  const length = bytes.readUInt32BE(at + 1);
  if (bytes[at] !== 0) throw new QuotameshError('GRPC_COMPRESSED', { how: 'by the flag of a message' });
  if (length > maxBytes) throw tooLarge('a message', maxBytes);
  return length;
}

function tooLarge(what: string, limit: number): QuotameshError {
  return new QuotameshError('GRPC_TOO_LARGE', { what, limit });
}

const HEAD_BYTES = 5;
const LEAST_BYTES = 64;
const NOTHING = Buffer.alloc(0);
