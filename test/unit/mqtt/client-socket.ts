import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { setImmediate as turn } from 'node:timers/promises';
import { type ConnectionRules, GatedConnection } from '../../../src/doors/mqtt/gated-connection.js';
import { HeldBytes } from '../../../src/doors/mqtt/held-bytes.js';
import { packetsOf, packetType, SUBSCRIBE } from '../../../src/doors/mqtt/packets.js';
import { WriteLine } from '../../../src/doors/mqtt/write-line.js';
import { connectPacket } from './wire.js';

/** The broker's end of a connection, fed by hand. What it writes is kept until `takes` is false. */
export class ClientSocket extends Duplex {
  readonly written: Buffer[] = [];
  bytesWritten = 0;
  bytesRead = 0;
  takes = true;
  #done: (() => void) | null = null;

  constructor() {
    super({ readableHighWaterMark: 64 });
  }

  override _read(): void {}

  override push(chunk: Buffer | null): boolean {
    this.bytesRead += chunk?.length ?? 0;
    return super.push(chunk);
  }

  /** Types of the packets that the client got. */
  get answers(): number[] {
    return [...packetsOf(Buffer.concat(this.written))].map(packetType);
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.written.push(chunk);
    this.bytesWritten += chunk.length;
    if (this.takes) done();
    else this.#done = done;
  }

  /** The client begins to read again. */
  readOn(): void {
    this.takes = true;
    const done = this.#done;
    this.#done = null;
    done?.();
  }

  /** The system takes what was written, and no more. */
  takeOne(): void {
    const done = this.#done;
    this.#done = null;
    done?.();
  }

  destroySoon(): void {
    this.destroy();
  }
}

export interface ConnectionScene {
  readonly socket: ClientSocket;
  readonly connection: GatedConnection;
  /** Types of the packets that aedes got. */
  readonly passed: number[];
  nowMs: number;
}

const CONNACK = Buffer.from([0x20, 2, 0, 0]);

/** A connection with a stand-in for aedes, which reads when told that there is something, as aedes does. */
export async function connectionScene(
  rules: Partial<ConnectionRules> = {},
  keepAliveMs = 0,
  connect: Buffer = connectPacket('c'),
  answersSubscribe = true,
): Promise<ConnectionScene> {
  const passed: number[] = [];
  const onConnect = (connection: GatedConnection) => {
    connection.on('readable', () => {
      const packet = connection.read() as Buffer | null;
      if (packet === null) return;
      passed.push(packetType(packet));
      if (packetType(packet) === SUBSCRIBE && answersSubscribe) connection.subscribed();
    });
  };
  const scene = openConnection({ onConnect, ...rules });
  scene.connection.keepAliveMs = keepAliveMs;
  scene.socket.push(connect);
  await settle();
  scene.connection.write(CONNACK);
  await settle();
  passed.length = 0;
  scene.socket.written.length = 0;
  return Object.assign(scene, { passed });
}

/** A connection of which nothing has been read yet. */
export function openConnection(rules: Partial<ConnectionRules>): Omit<ConnectionScene, 'passed'> {
  const socket = new ClientSocket();
  const scene = { socket, nowMs: 0 };
  const connection = new GatedConnection(socket as unknown as Socket, {
    clock: () => scene.nowMs,
    maxPacketBytes: 1000,
    maxFiltersPerPacket: 20,
    dispatch: {
      maxMessages: 4,
      maxBytes: 10_000,
      notReadingMs: 1000,
      tryAdmit: () => true,
      admit: async () => true,
      counts: { dispatched: 0, dropped: 0, queued: 0 },
    },
    subscribeWaitMs: () => 0,
    held: new HeldBytes(64 * 1_048_576, { heldBytes: 0 }),
    line: new WriteLine(64 * 1_048_576),
    onConnect: () => undefined,
    onReading: () => undefined,
    onEnded: () => undefined,
    ...rules,
  });
  connection.on('error', () => undefined);
  return Object.assign(scene, { connection });
}

/** Until nothing moves any more. */
export async function settle(): Promise<void> {
  for (let turns = 0; turns < 4; turns++) await turn();
}
