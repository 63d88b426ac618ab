import type { Socket } from 'node:net';
import { CONNECT, PacketError, PacketSplitter, typeOf } from './packets.js';

/**
 * What one read of a client's socket has brought, packet by packet. The next read comes when all of it has gone on, so
 * that no more than that is ever held.
 */
export class ArrivedPackets {
  readonly #splitter: PacketSplitter;
  readonly #onHeldBytes: (change: number) => void;
  #packets: Buffer[] = [];
  /** Those before it have gone on. To shift them off instead moves 32,000 pings for each ping. */
  #head = 0;
  #heldBytes = 0;

  /** @param onHeldBytes told of what arrived (+) or went on (−) */
  constructor(maxPacketBytes: number, onHeldBytes: (change: number) => void) {
    this.#splitter = new PacketSplitter(maxPacketBytes);
    this.#onHeldBytes = onHeldBytes;
  }

  get next(): Buffer | undefined {
    return this.#packets[this.#head];
  }

  /** Reads until a packet is whole or the socket has nothing more. Throws a PacketError. */
  readFrom(socket: Socket, isFirst: boolean): void {
    while (this.next === undefined) {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) break;
      // Bytes of another protocol may look like the length of a long packet.
      if (isFirst && this.#splitter.heldBytes === 0 && typeOf(chunk) !== CONNECT) {
        throw new PacketError('malformed-packet', 'no CONNECT');
      }
      this.#packets = this.#splitter.push(chunk);
      this.#head = 0;
    }
    const whole = this.#packets.reduce((sum, { length }) => sum + length, 0);
    this.#setHeldBytes(whole + this.#splitter.heldBytes);
  }

  /** The next one has gone on. */
  shift(): void {
    const packet = this.next;
    if (packet === undefined) return;
    this.#setHeldBytes(this.#heldBytes - packet.length);
    if (++this.#head < this.#packets.length) return;
    this.#packets = [];
    this.#head = 0;
  }

  clear(): void {
    this.#packets = [];
    this.#head = 0;
    this.#setHeldBytes(0);
  }

  #setHeldBytes(bytes: number): void {
    if (bytes !== this.#heldBytes) this.#onHeldBytes(bytes - this.#heldBytes);
    this.#heldBytes = bytes;
  }
}
