import type { Socket } from 'node:net';
import { PacketLane } from './packet-lane.js';
import { CONNECT, OVERTAKING, PacketError, PacketSplitter, packetsOf, packetType } from './packets.js';

/**
 * Holds bytes read of a client in two lanes: ordered ones, and those that overtake. A PUBLISH may wait for minutes, a
 * ping behind it may not (MQTT 3.1.1, 3.1.2.10).
 */
export class ArrivedPackets {
  readonly ordered: PacketLane = new PacketLane();
  readonly overtaking: PacketLane = new PacketLane();
  readonly #splitter: PacketSplitter;
  #isFirst = true;

  constructor(maxPacketBytes: number) {
    this.#splitter = new PacketSplitter(maxPacketBytes, CONNECT_BYTES_MAX);
  }

  get bytes(): number {
    return this.ordered.bytes + this.overtaking.bytes + this.#splitter.heldBytes;
  }

  /** Bytes of the incomplete packet. */
  get incompleteBytes(): number {
    return this.#splitter.heldBytes;
  }

  get isEmpty(): boolean {
    return this.ordered.bytes + this.overtaking.bytes === 0;
  }

  /** Reads once; false = the socket has nothing. Throws PacketError. */
  readFrom(socket: Socket): boolean {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return false;
    // Another protocol's bytes may look like the length of a long packet.
    if (this.#isFirst && packetType(chunk) !== CONNECT) throw new PacketError('malformed-packet', 'no CONNECT');
    this.#isFirst = false;
    this.#sort(this.#splitter.push(chunk));
    return true;
  }

  clear(): void {
    this.ordered.clear();
    this.overtaking.clear();
  }

  #sort(whole: Buffer): void {
    let overtakingBytes = 0;
    for (const packet of packetsOf(whole)) if (overtakes(packet)) overtakingBytes += packet.length;
    if (overtakingBytes === 0) this.ordered.push(whole);
    else if (overtakingBytes === whole.length) this.overtaking.push(whole);
    else {
      const packets = [...packetsOf(whole)];
      this.overtaking.push(Buffer.concat(packets.filter(overtakes)));
      this.ordered.push(Buffer.concat(packets.filter((packet) => !overtakes(packet))));
    }
  }
}

function overtakes(packet: Buffer): boolean {
  return OVERTAKING.has(packetType(packet));
}

/** Most bytes before the login: a token of 3 KB fits, a longer will does not. */
export const CONNECT_BYTES_MAX = 4096;
