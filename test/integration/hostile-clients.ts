import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { hashOf } from '../../src/base/access/token.js';
import { CliScene } from '../unit/cli/cli-process.js';

/** What many clients send at once, of which none takes anything of the answers. */
export interface Attack {
  readonly connections: number;
  readonly path: string;
  /** Header lines, each with its line end. */
  readonly fields: string;
  /** In one piece; more than 100 are sent over and over. */
  readonly requests: number;
}

export const TOKEN = 'qm_somebody-0123456789';
export const HOST = 'host: x\r\n';
export const BEARER = `authorization: Bearer ${TOKEN}\r\n`;
/** What a client sends in one piece: more than node reads at once. */
export const PIECE_REQUESTS = 4000;

const HEAP_MB = 96;
const ATTACK_MS = 5000;

/**
 * The node goes on to answer, and has ended the connections that sent more than they may. Before there were bounds, each of these attacks
 * ended a node of 256 MB within seconds (FATAL ERROR: heap out of memory).
 */
export async function expectSurvived(attack: Attack, probeMaxMs: number): Promise<void> {
  const { connections, path, fields, requests } = attack;
  const isEndless = requests > 100;
  const url = await smallNode();
  const piece = `GET ${path} HTTP/1.1\r\n${fields}\r\n`.repeat(requests);
  const sockets = silentReaders(url, piece, connections, isEndless);
  await sleep(ATTACK_MS);
  const beganMs = performance.now();
  const probe = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(probeMaxMs) });
  console.log(`${path} × ${connections}: a probe waited ${Math.round(performance.now() - beganMs)} ms`);
  expect(probe.status).toBe(200);
  expect(sockets.filter(({ bytesWritten }) => bytesWritten >= piece.length || isEndless).length).toBe(connections);
  const page = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  const ended = /reason="pipelined"} (\d+)/.exec(await page.text())?.[1];
  expect(Number(ended)).toBe(isEndless ? connections : 0);
}

/** A node with 500 groups and a small heap. */
export async function smallNode(): Promise<string> {
  const scene = new CliScene(onTestFinished);
  const folder = scene.folderWith({ 'node.yaml': CONFIG });
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` };
  const node = scene.start(['run', '--config', `${folder}/node.yaml`], env);
  const url = await node.url();
  await node.logged('node ready: it reads and writes the topic, and decides');
  return url;
}

/** Connections that send the piece, over and over where `isEndless`, and take nothing of the answers. */
export function silentReaders(url: string, piece: string, connections: number, isEndless: boolean): readonly Socket[] {
  const sockets = Array.from({ length: connections }, () => silentReader(url, piece, isEndless));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return sockets;
}

const CONFIG = `cluster: hostile
node: a
topic: memory
http: { port: 0 }
auth: { tokens: [{ name: somebody, roles: [viewer, traffic], hash: "sha256:${hashOf(TOKEN).toString('hex')}" }] }
groups:
${Array.from({ length: 500 }, (_, at) => `  group-${at}: { quota: { publish: { messagesPerSecond: 1000 } } }`).join('\n')}
`;

function silentReader(url: string, piece: string, isEndless: boolean): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => undefined);
  socket.pause();
  const send = () => {
    while (!socket.destroyed && socket.write(piece) && isEndless);
  };
  socket.once('connect', send);
  if (isEndless) socket.on('drain', send);
  return socket;
}
