import { isUtf8 } from 'node:buffer';
import { PacketError } from './packets.js';

/** Reads a packet's body field by field; throws PacketError beyond its end. */
export class PacketBody {
  readonly #packet: Buffer;
  #at = 1;

  constructor(packet: Buffer) {
    this.#packet = packet;
    while (packet[this.#at] >= 0x80) this.#at++;
    this.#at++;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.#packet.length;
  }

  /** Reads UTF-8 without surrogates and U+0000 (MQTT-1.5.3-1, -2), which would end other clients' connections. */
  text(): Buffer {
    const bytes = this.bytes();
    if (isUtf8(bytes) && !bytes.includes(0)) return bytes;
    throw new PacketError('malformed-text', 'a string is no UTF-8, or has U+0000 in it');
  }

  /** Reads an id; 0 means none (MQTT-2.3.1-1). */
  packetId(): void {
    const from = this.skip(2);
    if (this.#packet.readUInt16BE(from) === 0) throw new PacketError('packet-id-zero', 'the packet id is 0');
  }

  bytes(): Buffer {
    const length = this.#packet.readUInt16BE(this.skip(2));
    const from = this.skip(length);
    return this.#packet.subarray(from, from + length);
  }

  byte(): number {
    return this.#packet[this.skip(1)];
  }

  skip(bytes: number): number {
    const from = this.#at;
    this.#at += bytes;
    if (this.#at > this.#packet.length) throw new PacketError('malformed-packet', 'it ends in the midst of a field');
    return from;
  }
}
