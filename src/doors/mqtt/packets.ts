export const CONNECT = 1;
export const CONNACK = 2;
export const PUBLISH = 3;
export const PUBACK = 4;
export const PUBREC = 5;
export const PUBREL = 6;
export const PUBCOMP = 7;
export const SUBSCRIBE = 8;
export const UNSUBSCRIBE = 10;
export const PINGREQ = 12;
export const DISCONNECT = 14;

/** Packets without an answer; SUBSCRIBE, pings and QoS 2's first are answered, as is PUBLISH. */
export const UNANSWERED: ReadonlySet<number> = new Set([PUBACK, PUBCOMP]);

/** Packets that may overtake a waiting PUBLISH (MQTT 3.1.1, 4.6). */
export const OVERTAKING: ReadonlySet<number> = new Set([PUBACK, PUBREC, PUBREL, PUBCOMP, PINGREQ]);

export const PINGRESP_PACKET: Buffer = Buffer.from([0xd0, 0x00]);

type PacketMistake =
  | 'connect-too-large'
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
 * Cuts bytes where control packets end, by fixed headers (2.2). aedes hands all packets of one read to its hooks at
 * once: withholding one PUBLISH's answer would not withhold the next.
 */
export class PacketSplitter {
  readonly #bytesMax: number;
  readonly #firstBytesMax: number;
  #isFirst = true;
  #parts: Buffer[] = [];
  #heldBytes = 0;
  #neededBytes = 0;

  /** @param firstBytesMax most bytes of the first packet, a client's CONNECT */
  constructor(bytesMax: number, firstBytesMax: number = bytesMax) {
    this.#bytesMax = bytesMax;
    this.#firstBytesMax = Math.min(firstBytesMax, bytesMax);
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Returns the packets that a chunk completes, in one piece. Throws PacketError at the header of one too large. */
  push(chunk: Buffer): Buffer {
    this.#parts.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes < this.#neededBytes) return NOTHING;
    const bytes = this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#heldBytes);
    let at = 0;
    let length = this.#lengthAt(bytes, at);
    while (length !== 0 && at + length <= bytes.length) {
      this.#isFirst = false;
      at += length;
      length = this.#lengthAt(bytes, at);
    }
    this.#heldBytes = bytes.length - at;
    this.#parts = this.#heldBytes === 0 ? [] : [apart(bytes.subarray(at), bytes.length)];
    this.#neededBytes = length;
    return bytes.subarray(0, at);
  }

  #lengthAt(bytes: Buffer, at: number): number {
    const length = packetLength(bytes, at);
    const most = this.#isFirst ? this.#firstBytesMax : this.#bytesMax;
    if (length <= most) return length;
    const reason = this.#isFirst && most < this.#bytesMax ? 'connect-too-large' : 'packet-too-large';
    throw new PacketError(reason, `a packet of ${length} bytes, at most ${most} are allowed`);
  }
}

export const NOTHING: Buffer = Buffer.alloc(0);

/** Copies a slice that keeps twice its size, or more, in memory. */
export function apart(slice: Buffer, wholeBytes: number = slice.buffer.byteLength): Buffer {
  if (2 * slice.length > wholeBytes) return slice;
  const copy = Buffer.allocUnsafeSlow(slice.length);
  slice.copy(copy);
  return copy;
}

export function packetLength(bytes: Buffer, at: number): number {
  let remaining = 0;
  for (let index = 0; index < LENGTH_BYTES_MAX; index++) {
    const byte = bytes[at + 1 + index];
    if (byte === undefined) return 0;
    remaining += (byte & 0x7f) << (7 * index);
    if (byte < 0x80) return 2 + index + remaining;
  }
  throw new PacketError('malformed-packet', 'the remaining length has more than four bytes');
}

const LENGTH_BYTES_MAX = 4;

export function* packetsOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0, length = 0; at < bytes.length; at += length) {
    length = packetLength(bytes, at);
    yield bytes.subarray(at, at + length);
  }
}

export function packetType(packet: Buffer): number {
  return packet[0] >> 4;
}

export interface PublishHead {
  readonly qos: number;
  readonly topic: string;
  readonly payloadBytes: number;
}

/** Reads a PUBLISH's fields before its payload (3.3); null = malformed. `apartBytes` of it are elsewhere. */
export function publishHead(packet: Buffer, apartBytes = 0): PublishHead | null {
  const qos = (packet[0] >> 1) & 3;
  let at = 1;
  while (packet[at] >= 0x80) at++;
  at++;
  if (packet.length < at + 2) return null;
  const topicEnd = at + 2 + packet.readUInt16BE(at);
  const payloadBytes = packet.length + apartBytes - topicEnd - (qos > 0 ? 2 : 0);
  if (payloadBytes < 0) return null;
  return { qos, topic: packet.toString('utf8', at + 2, topicEnd), payloadBytes };
}
