import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { HeldBytes } from '../../../src/doors/mqtt/held-bytes.js';
import { PacketWriter } from '../../../src/doors/mqtt/packet-writer.js';
import { KEPT_BYTES } from '../../../src/doors/mqtt/room-taken.js';
import { WriteLine } from '../../../src/doors/mqtt/write-line.js';
import { ClientSocket, settle } from './client-socket.js';

const MIB = 1_048_576;
const HEAD_BYTES = 10;
const PIECE_BYTES = 65_536;

test('what is sent is counted once, whether a piece of it is written at once or not', async () => {
  const socket = new ClientSocket();
  socket.takes = false;
  const counted: number[] = [];
  const calls = {
    cutOff: () => undefined,
    onCounted: () => counted.push(writer.heldBytes),
    onTaken: () => undefined,
  };
  const held = new HeldBytes(MIB, { heldBytes: 0 });
  const writer = new PacketWriter(socket as unknown as Socket, held, new WriteLine(MIB), calls);
  writer.send(Buffer.alloc(HEAD_BYTES), Buffer.alloc(2 * PIECE_BYTES));
  // Its head is in the socket, and kept until the last piece has gone.
  const atOnce = 2 * (HEAD_BYTES + KEPT_BYTES) + PIECE_BYTES;
  expect(counted).toEqual([atOnce]);
  writer.send(Buffer.alloc(HEAD_BYTES), Buffer.alloc(PIECE_BYTES));
  expect(counted).toEqual([atOnce, atOnce + HEAD_BYTES + KEPT_BYTES]);
  socket.readOn();
  await settle();
  expect([counted.at(-1), socket.bytesWritten]).toEqual([0, 2 * HEAD_BYTES + 3 * PIECE_BYTES]);
});
