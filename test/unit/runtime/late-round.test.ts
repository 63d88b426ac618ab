import { type AddressInfo, createServer, type Server } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { createWholeNode, type WholeNode } from '../../whole-node.js';

const RATE_PER_SECOND = 800;

/** Sends a byte per piece of work, on a thread of its own: it goes on while this one sleeps. */
const CLIENT = `
  const { port, shared } = require('node:worker_threads').workerData;
  const longestGapMs = new Int32Array(shared);
  const socket = require('node:net').connect(port, '127.0.0.1').setNoDelay(true);
  const beganMs = performance.now();
  let sent = 0;
  let lastMs = beganMs;
  setInterval(() => {
    const nowMs = performance.now();
    longestGapMs[0] = Math.max(longestGapMs[0], nowMs - lastMs);
    lastMs = nowMs;
    const due = Math.floor(((nowMs - beganMs) * ${RATE_PER_SECOND}) / 1000);
    if (due > sent) socket.write(Buffer.alloc(due - sent));
    sent = due;
  }, 2);
`;
const SLEEP_MS = 120;
const SLEEPS = 4;
/** A client that slept itself made a lull: that sleep does not count, and another one is tried. */
const CLIENT_GAP_MAX_MS = 40;
const TRIES_MAX = 40;

let node: WholeNode;
let server: Server;
let client: Worker;

afterEach(async () => {
  await client.terminate();
  server.close();
  await node.close();
});

function sleepBusily(durationMs: number): void {
  const untilMs = performance.now() + durationMs;
  while (performance.now() < untilMs);
}

async function pause(durationMs: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, durationMs));
}

/** What this node last reported of its demand, read back. */
function reportedDemand(): number {
  return node.groupStatus('orders').directions.publish.nodes[0]?.demand.messagesPerSecond ?? 0;
}

async function lowestDemandAfterSleep(): Promise<number> {
  sleepBusily(SLEEP_MS);
  let lowest = reportedDemand();
  for (let looks = 0; looks < 50; looks++) {
    await pause(5);
    lowest = Math.min(lowest, reportedDemand());
  }
  return lowest;
}

/** Timers come before sockets in an event loop that slept: a round would see no arrivals for as long as it slept. */
test('a node whose event loop slept for a moment does not report a lull: what waits in sockets is counted first', async () => {
  node = await createWholeNode({
    config: {
      cluster: 'late',
      node: 'a',
      topic: 'memory',
      // Where the cluster has a bucket, demand so far below the quota is not reported.
      groups: { orders: { topics: 'even', quota: { publish: { messagesPerSecond: 10_000 } } } },
    },
  });
  server = createServer((socket) => {
    socket.on('data', (chunk) => {
      for (let at = 0; at < chunk.length; at++) node.tryAcquire('orders', { messages: 1 });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const shared = new SharedArrayBuffer(4);
  const longestGapMs = new Int32Array(shared);
  const { port } = server.address() as AddressInfo;
  client = new Worker(CLIENT, { eval: true, workerData: { port, shared } });
  await pause(1500);
  expect(reportedDemand()).toBeGreaterThan(RATE_PER_SECOND * 0.75);
  let least = Infinity;
  let counted = 0;
  for (let tries = 0; counted < SLEEPS && tries < TRIES_MAX; tries++) {
    longestGapMs[0] = 0;
    const lowest = await lowestDemandAfterSleep();
    if (longestGapMs[0] > CLIENT_GAP_MAX_MS) continue;
    counted++;
    least = Math.min(least, lowest);
  }
  expect(counted, 'sleeps in which this machine let the client go on').toBe(SLEEPS);
  console.log(`least demand reported: ${least.toFixed(0)}/s of ${RATE_PER_SECOND}/s`);
  expect(least).toBeGreaterThan(RATE_PER_SECOND / 2);
});
