import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { flowsAt, TENANTS } from './shop-traffic.mjs';

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
  "key:{id}": { quota: { publish: { messagesPerSecond: 10 } } }
`;

/** Waves of the traffic, and what counting over some seconds leaves to chance. */
const OFF_RATIO = 2.5;
/** Lines that are wanted less, per second, are left to chance. */
const COUNTED_PER_SECOND = 5;

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

/** Throws where a node shows other rates than the clients ask for: a picture would mislead whoever looks at it. */
export async function checkShown({ url }) {
  const { groups } = await fetch(`${url}/v1/live?count=120`).then((response) => response.json());
  const wrong = flowsAt(0).flatMap(({ group, direction = 'publish', bytes, perNode }) => {
    const row = groups.rows.find((one) => one.group === group && one.direction === direction);
    const wanted = perNode.reduce((sum, rate) => sum + rate, 0) * (row?.dimension === 'bytes' ? bytes : 1);
    if (wanted < COUNTED_PER_SECOND) return [];
    const admitted = Math.min(wanted, row?.quota ?? wanted);
    const isShown = isNear(row?.wanted, wanted) && isNear(row?.admitted, admitted);
    return isShown ? [] : [`${group}: ${row?.admitted} admitted, ${row?.wanted} wanted; ${wanted} are asked for`];
  });
  if (wrong.length > 0) throw new Error(`the node shows other rates than there are:\n${wrong.join('\n')}`);
}

function isNear(shown, real) {
  return shown > real / OFF_RATIO && shown < real * OFF_RATIO;
}
