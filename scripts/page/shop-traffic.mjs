/**
 * The clients of the shop, as `node shop-traffic.mjs URL-OF-A URL-OF-B URL-OF-C`: each message, and each 64 KiB of an
 * upload, is a request of its own, asked for when it comes, whatever became of those before it. What comes within 20 ms
 * goes into one body of `POST /v1/acquire/bulk`, because this machine runs nodes, clients and browser on two cores; each
 * request in it is decided by itself.
 */
import { fileURLToPath } from 'node:url';

/** 200 tenants, of whom the first are the busiest. */
export const TENANTS = Array.from({ length: 200 }, (_, rank) => `tenant-${(rank * 37 + 11) % 200}`);

const TICK_MS = 20;
const MESSAGE_BYTES = 800;
const CHUNK_BYTES = 65_536;
const BUSY_TENANTS = 40;
const KEYS = ['acme', 'globex', 'initech', 'umbrella', 'hooli'];

/** Messages per second at the three nodes, at this second of the run; at 0 what they are on the average. */
export function flowsAt(second) {
  const wave = (mean, part, periodSeconds) => mean * (1 + part * Math.sin((2 * Math.PI * second) / periodSeconds));
  const flow = (group, perNode, more = {}) => ({ group, perNode, ...more });
  return [
    flow('orders', [wave(850, 0.3, 60), 340, wave(180, 0.5, 35)]),
    flow('payments', [60, wave(120, 0.2, 25), 90]),
    flow('payments', [70, 60, wave(80, 0.3, 45)], { direction: 'dispatch' }),
    flow('search', [40, wave(210, 0.4, 70), 60]),
    flow('uploads', [wave(130, 0.2, 80), 210, 40], { bytes: CHUNK_BYTES }),
    ...TENANTS.slice(0, BUSY_TENANTS).map((group, rank) => {
      const most = wave(80 / (rank + 1) ** 0.9, 0.1, 30 + rank);
      return flow(group, spread(most, rank));
    }),
    // A quota of 10 per second for each: the first asks for more, the others for a little.
    ...KEYS.map((id, rank) => flow(`key:${id}`, spread(rank === 0 ? 18 : 0.4 / rank, rank + 1))),
  ];
}

/** Most of it at one node, the rest at the other two. */
function spread(rate, rank) {
  return [0, 1, 2].map((node) => rate * (node === rank % 3 ? 0.7 : 0.15));
}

async function ask(url, requests) {
  const response = await fetch(`${url}/v1/acquire/bulk`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ requests }),
  });
  await response.arrayBuffer();
}

function play(urls) {
  const due = new Map();
  let lastMs = performance.now();
  setInterval(() => {
    const nowMs = performance.now();
    const flows = flowsAt(nowMs / 1000);
    for (const [node, url] of urls.entries()) {
      const requests = [];
      for (const { group, direction = 'publish', bytes = MESSAGE_BYTES, perNode } of flows) {
        const key = `${group} ${direction} ${node}`;
        const since = (due.get(key) ?? Math.random()) + (perNode[node] * (nowMs - lastMs)) / 1000;
        due.set(key, since % 1);
        for (let one = 1; one <= since; one++) requests.push({ group, direction, messages: 1, bytes });
      }
      // A node that was killed for a picture does not answer.
      if (requests.length > 0) ask(url, requests).catch(() => undefined);
    }
    lastMs = nowMs;
  }, TICK_MS);
  process.on('disconnect', () => process.exit());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) play(process.argv.slice(2));
