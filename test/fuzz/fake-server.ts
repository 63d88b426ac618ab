import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** Called with what has arrived at a connection; returns how many bytes of it were requests. */
export type Serve = (socket: Socket, bytes: Buffer) => number;

/** Listens until the test ends. `serve` may be changed meanwhile. */
export async function fakeServer(serve: Serve): Promise<{ readonly port: number; serve: Serve; connections: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    fake.connections++;
    sockets.add(socket.setNoDelay(true));
    let kept = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      kept = Buffer.concat([kept, chunk]);
      kept = kept.subarray(fake.serve(socket, kept));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const fake = { port: (server.address() as AddressInfo).port, serve, connections: 0 };
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return fake;
}

/** Sends `head`, then `chunk` again and again, until the other side has had enough. */
export function pour(socket: Socket, head: Buffer | string, chunk: Buffer): void {
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on('drain', more);
  more();
}

/** Sends one byte at a time. */
export function drip(socket: Socket, bytes: Buffer): void {
  let at = 0;
  const next = () => {
    if (socket.destroyed || at >= bytes.length) return;
    socket.write(bytes.subarray(at, ++at), () => setImmediate(next));
  };
  next();
}
