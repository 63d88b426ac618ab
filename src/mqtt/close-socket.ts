import type { Socket } from 'node:net';

/** Sends what has been written, e.g. a CONNACK that refuses, but waits only so long for a client that does not read. */
export function closeSocket(socket: Socket): void {
  if (socket.destroyed) return;
  if (socket.writableLength === 0) {
    socket.destroy();
    return;
  }
  socket.destroySoon();
  setTimeout(() => socket.destroy(), CLOSE_MS).unref();
}

const CLOSE_MS = 1000;
