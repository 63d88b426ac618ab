import { isUtf8 } from 'node:buffer';
import { CONNECT, OVERTAKING, PacketError, PINGREQ, PUBLISH, packetType, SUBSCRIBE, UNSUBSCRIBE } from './packets.js';

/**
 * Rejects a packet before aedes works on it or passes it on. Throws PacketError. Returns its work: filters of SUBSCRIBE
 * or UNSUBSCRIBE, 1 for others.
 */
export function checkPacket(packet: Buffer, maxFilters: number): number {
  const type = packetType(packet);
  // aedes would end the connection without a word.
  if (NOT_OF_CLIENTS.has(type)) throw new PacketError('protocol-error', `a packet of type ${type}`);
  const body = new PacketBody(packet);
  if (type === PUBLISH) checkPublish(packet, body);
  else if (type === CONNECT) checkConnect(body);
  else if (type === PINGREQ) checkPing(packet);
  else if (OVERTAKING.has(type)) body.packetId();
  return type === SUBSCRIBE || type === UNSUBSCRIBE ? filtersOf(body, type, maxFilters) : 1;
}

/** CONNACK, SUBACK, UNSUBACK, PINGRESP, and reserved types (MQTT 3.1.1, table 2.1). */
const NOT_OF_CLIENTS: ReadonlySet<number> = new Set([0, 2, 9, 11, 13, 15]);

function checkPing(packet: Buffer): void {
  if (packet[0] === PINGREQ << 4 && packet[1] === 0) return;
  throw new PacketError('malformed-packet', 'a ping with flags or a body');
}

function checkPublish(packet: Buffer, body: PacketBody): void {
  body.text();
  if ((packet[0] & QOS_BITS) !== 0) body.packetId();
}

const QOS_BITS = 0b0110;

/** Counts filters (3.8.3, 3.10.3), at most one beyond the bound. */
function filtersOf(body: PacketBody, type: number, max: number): number {
  body.packetId();
  let count = 0;
  while (!body.isAtEnd) {
    if (++count > max) throw new PacketError('too-many-filters', `more than ${max} filters in one packet`);
    // aedes takes `a+` and `x/+a` for words.
    if (WILDCARD_IN_LEVEL.test(body.text().toString('latin1'))) {
      throw new PacketError('protocol-error', 'a wildcard that is not a whole level');
    }
    if (type === SUBSCRIBE) body.skip(1);
  }
  // MQTT-3.8.3-3, -3.10.3-2; a flood of empty ones would count as no work.
  if (count === 0) throw new PacketError('protocol-error', 'no filter');
  return count;
}

/** Checks client id, will topic and username (3.1.3); will and password are any bytes. */
function checkConnect(body: PacketBody): void {
  body.text();
  // aedes refuses MQTT 5 with return code 1.
  if ((body.byte() & ~BRIDGE_BIT) > MQTT_3_1_1) return;
  const flags = body.byte();
  checkWillBits(flags);
  body.skip(KEEP_ALIVE_BYTES);
  body.text();
  if ((flags & WILL) !== 0) {
    checkWillTopic(body.text());
    body.bytes();
  }
  if ((flags & USERNAME) !== 0) body.text();
}

/** Rejects a will of QoS 3 (MQTT-3.1.2-11, -14): subscribers, later ones too, would end their connections. */
function checkWillBits(flags: number): void {
  const bits = flags & WILL_BITS;
  if (bits >> WILL_QOS_SHIFT === QOS_BITS >> 1 || ((flags & WILL) === 0 && (flags & (WILL_BITS | WILL_RETAIN)) !== 0)) {
    throw new PacketError('malformed-packet', 'a will of QoS 3, or parts of a will without one');
  }
}

/** Rejects a will topic with wildcards, or none (MQTT-4.7.1-1, -4.7.3-1); aedes checks those of PUBLISH. */
function checkWillTopic(topic: Buffer): void {
  if (topic.length > 0 && !WILDCARDS.test(topic.toString('latin1'))) return;
  throw new PacketError('protocol-error', 'the topic of the will is empty or has a wildcard');
}

const WILDCARDS = /[#+]/;
/** A + that is no whole level, a # no last one: MQTT-4.7.1-2, -3. */
const WILDCARD_IN_LEVEL = /[^/][#+]|\+[^/]|#./s;
const WILL_BITS = 0x18;
const WILL_QOS_SHIFT = 3;
const WILL_RETAIN = 0x20;
const MQTT_3_1_1 = 4;
/** Bit by which mosquitto marks a connection between brokers. */
const BRIDGE_BIT = 0x80;
const WILL = 0x04;
const USERNAME = 0x80;
const KEEP_ALIVE_BYTES = 2;

/** Reads a packet's body field by field; throws PacketError beyond its end. */
class PacketBody {
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

  /** Reads UTF-8 without surrogates and U+0000 (MQTT-1.5.3-1, -2). They would end other clients' connections. */
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
