import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { hashOf } from '../../src/access/token.js';
import { CliScene } from '../unit/cli/cli-process.js';

const HEAP_MB = 96;
/** What a client sends in one piece: more than node reads at once. */
const PIECE_REQUESTS = 4000;
/** A probe is answered within milliseconds; an orchestrator waits for some seconds. */
const PROBE_MAX_MS = 5000;
const ATTACK_MS = 5000;
/** A request has 10 s to be complete, and the listener looks every 5 s. */
const CUT = { timeout: 75_000, interval: 200 };
const HOST = 'host: x\r\n';
const TOKEN = 'qm_somebody-0123456789';

const CONFIG = `cluster: hostile
node: a
topic: memory
http: { port: 0 }
auth: { tokens: [{ name: somebody, roles: [viewer, traffic], hash: "sha256:${hashOf(TOKEN).toString('hex')}" }] }
groups:
${Array.from({ length: 500 }, (_, at) => `  group-${at}: { quota: { publish: { messagesPerSecond: 1000 } } }`).join('\n')}
`;

/** Before there were bounds, each of these ended a node of 256 MB within seconds (FATAL ERROR: heap out of memory). */
describe('clients that send much and read nothing do not end a node with a small heap', () => {
  const bearer = `authorization: Bearer ${TOKEN}\r\n`;
  test.each([
    ['pipeline the largest page that anybody may read', 16, '/openapi.json', HOST + bearer, PIECE_REQUESTS],
    ['have no token, and are many', 600, '/', HOST, PIECE_REQUESTS],
    ['name no host', 600, '/', '', PIECE_REQUESTS],
    ['expect what nobody knows', 600, '/', `${HOST}expect: x\r\n`, PIECE_REQUESTS],
    ['expect to be told to continue', 600, '/', `${HOST}expect: 100-continue\r\n`, PIECE_REQUESTS],
    ['ask once each for what is made anew every time', 400, '/v1/groups', HOST + bearer, 1],
    ['stay within what a connection may send', 100, '/openapi.json', HOST + bearer, 30],
  ] as const)('%s', { timeout: 120_000 }, async (_, connections, path, fields, requests) => {
    const url = await smallNode();
    const piece = `GET ${path} HTTP/1.1\r\n${fields}\r\n`.repeat(requests);
    const sockets = Array.from({ length: connections }, () => silentReader(url, piece, requests > 100));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await sleep(ATTACK_MS);
    const beganMs = performance.now();
    const probe = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(PROBE_MAX_MS) });
    expect(probe.status, `after ${performance.now() - beganMs} ms`).toBe(200);
    expect(sockets.filter(({ bytesWritten }) => bytesWritten >= piece.length || requests > 100).length).toBe(
      connections,
    );
    const page = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    const ended = /reason="pipelined"} (\d+)/.exec(await page.text())?.[1];
    expect(Number(ended)).toBe(requests > 100 ? connections : 0);
  });

  test('send bodies in chunks of one byte, and never the last: cut off after their time', {
    timeout: 120_000,
  }, async () => {
    const url = await smallNode();
    const fields = `${HOST}${bearer}content-type: application/json\r\ntransfer-encoding: chunked\r\n`;
    const piece = `POST /v1/acquire HTTP/1.1\r\n${fields}\r\n${'1\r\n \r\n'.repeat(16_000)}`;
    const sockets = Array.from({ length: 80 }, () => silentReader(url, piece, false));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    await expect.poll(() => sockets.every(({ bytesWritten }) => bytesWritten >= piece.length), CUT).toBe(true);
    // Behind all that was written: a probe waits for no more than what that costs, and for the cores that others have.
    const probe = await fetch(`${url}/livez`, { signal: AbortSignal.timeout(CUT.timeout) });
    expect(probe.status).toBe(200);
    const cpuSeconds = await metricOf(url, 'process_cpu_seconds_total');
    console.log(`1,280,000 chunks: ${cpuSeconds.toFixed(1)} s of CPU, the start of the node among them`);
    expect(1000 * cpuSeconds).toBeLessThan(PROBE_MAX_MS);
    // What asks is a connection, too, and so is the one of the probe.
    await expect.poll(() => metricOf(url, 'quotamesh_http_connections'), CUT).toBeLessThanOrEqual(2);
  });
});

async function metricOf(url: string, name: string): Promise<number> {
  const page = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return Number(new RegExp(`^${name} ([\\d.]+)`, 'm').exec(await page.text())?.[1]);
}

async function smallNode(): Promise<string> {
  const scene = new CliScene(onTestFinished);
  const folder = scene.folderWith({ 'node.yaml': CONFIG });
  const env = { NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}` };
  const node = scene.start(['run', '--config', `${folder}/node.yaml`], env);
  const url = await node.url();
  await node.logged('node ready: own record read back');
  return url;
}

/** Sends the piece, over and over where `isEndless`, and takes nothing of the answers. */
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
