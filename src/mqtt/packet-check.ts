import { PacketError, SUBSCRIBE, typeOf, UNSUBSCRIBE } from './packets.js';

/**
 * Looks into a packet before aedes does, which would work it off however much it is. Throws a PacketError. Returns how much
 * work it is: filters of a SUBSCRIBE or UNSUBSCRIBE, 1 for others.
 */
export function checkPacket(packet: Buffer, maxFilters: number): number {
  const type = typeOf(packet);
  if (type !== SUBSCRIBE && type !== UNSUBSCRIBE) return 1;
  return new PacketBody(packet).filters(type === SUBSCRIBE ? 1 : 0, maxFilters);
}

/** What follows the fixed header, from its beginning to its end. */
class PacketBody {
  readonly #packet: Buffer;
  #at = 1;

  constructor(packet: Buffer) {
    this.#packet = packet;
    while ((packet[this.#at] as number) >= 0x80) this.#at++;
    this.#at++;
  }

  /**
   * How many there are (3.8.3, 3.10.3). No more than one beyond the bound is looked at.
   * @param optionBytes behind each filter
   */
  filters(optionBytes: number, max: number): number {
    this.#skip(ID_BYTES);
    let count = 0;
    while (this.#at < this.#packet.length) {
      if (++count > max) throw new PacketError('too-many-filters', `more than ${max} filters in one packet`);
      this.#text();
      this.#skip(optionBytes);
    }
    return count;
  }

  #text(): void {
    const from = this.#skip(LENGTH_BYTES);
    this.#skip(this.#packet.readUInt16BE(from));
  }

  /** Where it was. */
  #skip(bytes: number): number {
    const from = this.#at;
    this.#at += bytes;
    if (this.#at > this.#packet.length) throw new PacketError('malformed-packet', 'it ends in the midst of a field');
    return from;
  }
}

const ID_BYTES = 2;
/** Before a string. */
const LENGTH_BYTES = 2;
