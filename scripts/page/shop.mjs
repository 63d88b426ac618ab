import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { TENANTS } from './shop-traffic.mjs';

const NODES = ['a', 'b', 'c'];
/** Shares have followed the traffic by then, and charts have a line to show. */
const RUN_UP_MS = 20_000;

const GROUPS = `groups:
  orders: { quota: { publish: { messagesPerSecond: 1000 } } }
  payments: { quota: { publish: { messagesPerSecond: 400 }, dispatch: { messagesPerSecond: 200 } } }
  uploads: { quota: { publish: { bytesPerSecond: 20MiB } } }
  search: { quota: { publish: { messagesPerSecond: 300 } }, strategy: steal-halfway }
`;
const KEYS = `keys:
  "key:{id}": { quota: { publish: { messagesPerMinute: 600 } } }
`;

/** Three nodes of a shop, and clients that ask them for one message at a time. Returns the nodes. */
export async function startShop(processes) {
  const tenants = TENANTS.map((name) => `  ${name}: { quota: { publish: { messagesPerSecond: 50 } } }\n`).join('');
  const file = join(processes.folder, 'node.yaml');
  const topic = `topic: { kind: embedded, path: ${join(processes.folder, 'topic')} }`;
  writeFileSync(file, `cluster: shop\n${topic}\n${KEYS}${GROUPS}${tenants}`);
  const nodes = await Promise.all(NODES.map((name) => processes.node(name, file)));
  const traffic = fileURLToPath(new URL('shop-traffic.mjs', import.meta.url));
  processes.start([traffic, ...nodes.map(({ url }) => url)]);
  await sleep(RUN_UP_MS);
  return nodes;
}
