/** Control packet types (MQTT 3.1.1, table 2.1). */
export const CONNECT = 1;
export const CONNACK = 2;
export const PUBLISH = 3;
export const PUBACK = 4;
export const PUBCOMP = 7;
export const SUBSCRIBE = 8;
export const UNSUBSCRIBE = 10;
export const DISCONNECT = 14;

/** A SUBSCRIBE, a ping, and what QoS 2 sends first are answered, as is a PUBLISH. */
export const UNANSWERED: ReadonlySet<number> = new Set([PUBACK, PUBCOMP]);

export const PINGREQ: Buffer = Buffer.from([0xc0, 0x00]);

export type PacketMistake =
  | 'malformed-packet'
  | 'malformed-text'
  | 'packet-id-zero'
  | 'packet-too-large'
  | 'protocol-error'
  | 'too-many-filters';

export class PacketError extends Error {
  readonly reason: PacketMistake;

  constructor(reason: PacketMistake, detail: string) {
    super(detail);
    this.reason = reason;
  }
}

/**
 * Cuts a stream of bytes into whole control packets. aedes parses whatever one read of the socket brings and hands all
 * of it to its hooks at once, so that withholding the answer to one PUBLISH does not withhold the next; and what it
 * writes arrives in pieces. Only the fixed header is read here (2.2): type, flags and length.
 */
export class PacketSplitter {
  readonly #bytesMax: number;
  #parts: Buffer[] = [];
  #heldBytes = 0;
  #neededBytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Bytes of the packet that is not complete yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The packets that this chunk completes. Throws a PacketError before the body of a packet that is too large is read. */
  push(chunk: Buffer): Buffer[] {
    this.#parts.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes < this.#neededBytes) return [];
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#heldBytes);
    const packets: Buffer[] = [];
    let at = 0;
    let length = this.#lengthAt(bytes, at);
    while (length !== 0 && at + length <= bytes.length) {
      packets.push(bytes.subarray(at, at + length));
      at += length;
      length = this.#lengthAt(bytes, at);
    }
    this.#heldBytes = bytes.length - at;
    this.#parts = this.#heldBytes === 0 ? [] : [bytes.subarray(at)];
    this.#neededBytes = length;
    return packets;
  }

  /** Length of the packet that begins there, 0 while its fixed header is incomplete. */
  #lengthAt(bytes: Buffer, at: number): number {
    let remaining = 0;
    for (let index = 0; index < LENGTH_BYTES_MAX; index++) {
      const byte = bytes[at + 1 + index];
      if (byte === undefined) return 0;
      remaining += (byte & 0x7f) << (7 * index);
      if (byte < 0x80) return this.#checked(2 + index + remaining);
    }
    throw new PacketError('malformed-packet', 'the remaining length has more than four bytes');
  }

  #checked(length: number): number {
    if (length <= this.#bytesMax) return length;
    throw new PacketError('packet-too-large', `a packet of ${length} bytes, at most ${this.#bytesMax} are allowed`);
  }
}

const LENGTH_BYTES_MAX = 4;

export function typeOf(packet: Buffer): number {
  return (packet[0] as number) >> 4;
}

export interface PublishHead {
  readonly qos: number;
  readonly topic: string;
  readonly payloadBytes: number;
}

/** What a PUBLISH says before its payload (3.3); null where it is malformed. */
export function publishHead(packet: Buffer): PublishHead | null {
  const qos = ((packet[0] as number) >> 1) & 3;
  let at = 1;
  while ((packet[at] as number) >= 0x80) at++;
  at++;
  if (packet.length < at + 2) return null;
  const topicEnd = at + 2 + packet.readUInt16BE(at);
  const payloadBytes = packet.length - topicEnd - (qos > 0 ? 2 : 0);
  if (payloadBytes < 0) return null;
  return { qos, topic: packet.toString('utf8', at + 2, topicEnd), payloadBytes };
}
