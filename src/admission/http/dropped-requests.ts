import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';

/**
 * Node parses all 64 KiB that it has read, also after its connection was ended, and no call of it stops that: 2,500
 * requests are 5 MB and 6 ms, for each connection that sends so, and all that came in one turn of the event loop is
 * parsed before any of it is freed: 600 connections ended a node of 256 MB. But behind a CONNECT nothing is parsed, and
 * a server may choose the class of its messages. So the next request of a connection that was ended is one that has
 * been there all along, and says that it is a CONNECT.
 */
const DROPPED = new IncomingMessage(new Socket());
for (const [name, value] of Object.entries({ method: 'CONNECT', upgrade: true })) {
  Object.defineProperty(DROPPED, name, { get: () => value, set: () => undefined });
}

/** For `createServer`: a function, since a class could not give back what is there already. */
function Request(socket: Socket): IncomingMessage {
  return socket.destroyed ? DROPPED : new IncomingMessage(socket);
}

export const RequestClass = Request as unknown as typeof IncomingMessage;

/** Should a version of node parse on all the same. */
export function isDropped(request: IncomingMessage): boolean {
  return request === DROPPED;
}
