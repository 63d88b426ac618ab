import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import type { Outcome } from '../../../src/tools/load/call.js';
import { NodeConnections } from '../../../src/tools/load/node-connections.js';

const OK = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n{"granted":true}';
/** Three characters that are six bytes. */
const REFUSED = 'HTTP/1.1 429 Too Many Requests\r\ncontent-length: 6\r\n\r\n≤1é';

const WORK = { group: 'g', messages: 1, bytes: 0, retry: false };
const left: (() => void)[] = [];

afterEach(() => {
  for (const leave of left.splice(0)) leave();
});

/** A server that hands over what it reads, request by request. */
async function serverThat(answers: (socket: Socket, request: number) => void): Promise<string> {
  const sockets: Socket[] = [];
  let requests = 0;
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      for (const _ of chunk.toString().matchAll(/POST \/v1\/acquire HTTP\/1\.1\r\n/g)) answers(socket, requests++);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  left.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function connectionsTo(url: string): NodeConnections {
  const connections = new NodeConnections(url, 1000);
  left.push(() => connections.close());
  return connections;
}

async function answersOf(connections: NodeConnections, count: number): Promise<readonly Outcome[]> {
  const answers = Array.from({ length: count }, () => {
    return new Promise<Outcome>((resolve) => connections.acquire(WORK, resolve));
  });
  return Promise.all(answers);
}

describe('the connections to a node', () => {
  test('read answers that come in pieces, several at once, and with more bytes than characters', async () => {
    const url = await serverThat((socket, request) => {
      const bytes = Buffer.from(request % 2 === 0 ? OK : REFUSED);
      if (request % 3 !== 0) socket.write(bytes);
      else for (const byte of bytes) socket.write(Buffer.of(byte));
    });
    const answers = await answersOf(connectionsTo(url), 200);
    expect(answers.filter((answer) => answer === 'granted')).toHaveLength(100);
    expect(answers.filter((answer) => answer === 'refused')).toHaveLength(100);
  });

  test('say at once when nobody is there, and ask again a moment later', async () => {
    let isThere = false;
    const url = await serverThat((socket) => (isThere ? socket.write(OK) : socket.destroy()));
    const connections = connectionsTo(url);
    expect(new Set(await answersOf(connections, 20))).toEqual(new Set(['lost']));
    isThere = true;
    expect(await answersOf(connections, 1)).toEqual(['lost']);
    await sleep(30);
    expect(await answersOf(connections, 1)).toEqual(['granted']);
  });

  test('take a connection that the node closed while nothing was under way for what it is', async () => {
    const opened = new Set<Socket>();
    const url = await serverThat((socket) => opened.add(socket) && socket.write(OK));
    const connections = connectionsTo(url);
    expect(await answersOf(connections, 1)).toEqual(['granted']);
    const closed = [...opened].map((socket) => new Promise((resolve) => socket.end().once('close', resolve)));
    await Promise.all(closed);
    expect(await answersOf(connections, 1)).toEqual(['granted']);
  });

  test('give up after a second, send nothing that nobody waits for, and read what comes late as nothing', async () => {
    const asked: Socket[] = [];
    let isFrozen = true;
    const url = await serverThat((socket) => (isFrozen ? asked.push(socket) : socket.write(OK)));
    const connections = connectionsTo(url);
    const answers = await answersOf(connections, 600);
    // 4 connections with 16 requests each.
    expect(answers.filter((answer) => answer === 'late')).toHaveLength(64);
    expect(answers.filter((answer) => answer === 'unsent')).toHaveLength(600 - 64);
    expect(asked.length).toBe(64);
    isFrozen = false;
    for (const socket of asked) socket.write(REFUSED);
    expect(await answersOf(connections, 10)).toEqual(Array(10).fill('granted'));
  });
});
