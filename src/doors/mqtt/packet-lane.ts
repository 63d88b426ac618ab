import { packetLength } from './packets.js';

/**
 * Keeps whole packets in the pieces in which they came. They are cut off one by one, when asked
 * for: a slice for each small packet would take twenty times the bytes read. A piece counts until its last packet has
 * gone, because it stays in memory as long.
 */
export class PacketLane {
  readonly #pieces: Buffer[] = [];
  #at = 0;
  #next: Buffer | undefined;
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get next(): Buffer | undefined {
    const piece = this.#pieces[0];
    if (this.#next !== undefined || piece === undefined) return this.#next;
    this.#next = piece.subarray(this.#at, this.#at + packetLength(piece, this.#at));
    return this.#next;
  }

  push(piece: Buffer): void {
    if (piece.length === 0) return;
    this.#pieces.push(piece);
    this.#bytes += piece.length + PIECE_BYTES;
  }

  /** Drops the first packet, which has gone on. */
  shift(): void {
    const piece = this.#pieces[0];
    const packet = this.next;
    if (piece === undefined || packet === undefined) return;
    this.#at += packet.length;
    this.#next = undefined;
    if (this.#at < piece.length) return;
    this.#at = 0;
    this.#pieces.shift();
    this.#bytes -= piece.length + PIECE_BYTES;
  }

  clear(): void {
    this.#pieces.length = 0;
    this.#next = undefined;
    this.#at = 0;
    this.#bytes = 0;
  }
}

/** Bytes of a piece beside its content: clients with a packet per segment have thousands. */
const PIECE_BYTES = 256;
