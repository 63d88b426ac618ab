import { describe, expect, test } from 'vitest';
import {
  BEARER,
  expectSurvived,
  HOST,
  PIECE_REQUESTS,
  silentReaders,
  smallNode,
  TOKEN,
} from '../integration/hostile-clients.js';

/** A probe is answered within milliseconds; an orchestrator waits for some seconds. */
const PROBE_MAX_MS = 5000;
/** A request has 10 s to be complete, and the listener looks every 5 s. */
const CUT = { timeout: 75_000, interval: 200 };

/** Two more ways are in npm test. */
describe('clients that send much and read nothing do not end a node with a small heap', () => {
  test.each([
    ['name no host', 600, '/', '', PIECE_REQUESTS],
    ['expect what nobody knows', 600, '/', `${HOST}expect: x\r\n`, PIECE_REQUESTS],
    ['expect to be told to continue', 600, '/', `${HOST}expect: 100-continue\r\n`, PIECE_REQUESTS],
    ['ask once each for what is made anew every time', 400, '/v1/groups', HOST + BEARER, 1],
    ['stay within what a connection may send', 100, '/openapi.json', HOST + BEARER, 30],
  ] as const)('%s', async (_, connections, path, fields, requests) => {
    await expectSurvived({ connections, path, fields, requests }, PROBE_MAX_MS);
  });

  test('send bodies in chunks of one byte, and never the last: cut off after their time', async () => {
    const url = await smallNode();
    const fields = `${HOST}${BEARER}content-type: application/json\r\ntransfer-encoding: chunked\r\n`;
    const piece = `POST /v1/acquire HTTP/1.1\r\n${fields}\r\n${'1\r\n \r\n'.repeat(16_000)}`;
    const sockets = silentReaders(url, piece, 80, false);
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
