/**
 * `npm run bench:slots [-- ROUNDS]`: a slot taken and released at the node that holds it, in ns: of a group without a quota, of
 * one with a quota, and of the slots alone, below the node's door. Least and median of the rounds, in turn.
 */
import { createNode } from '../src/doors/library/create-node.js';
import type { QuotaNode } from '../src/node/api/quota-node.js';
import { partsOf } from '../src/node/loop/parts-of.js';

const ROUNDS = Number(process.argv[2] ?? 15);
const CALLS = 200_000;
const SLOTS = 1000;

const quota = { publish: { messagesPerSecond: 1e9 } };
const groups = { open: { concurrency: SLOTS }, metered: { concurrency: SLOTS, quota }, tokens: { quota } };
const node = await createNode({ config: { cluster: 'bench-slots', topic: { kind: 'memory' }, groups }, nodeId: 'a' });
for (const group of ['open', 'metered']) await firstSlot(node, group);

const { slots, groups: table } = partsOf(node);
const bucket = slots.get(table.numbers.get('open') as number)?.bucket;
if (bucket === undefined) throw new Error('the group has no slots');
const rows: readonly (readonly [string, () => void])[] = [
  ['tryEnter and release, no quota', () => enterAndRelease('open')],
  ['tryEnter and release, with a quota', () => enterAndRelease('metered')],
  ['the slot alone', () => bucket.release(bucket.tryEnter() as NonNullable<ReturnType<typeof bucket.tryEnter>>)],
  ['tryAcquire of a group without slots', () => node.tryAcquire('tokens', ONE)],
];
const ONE = { messages: 1 };
const times = rows.map((): number[] => []);
for (let round = 0; round < ROUNDS; round++) {
  for (const [at, [, call]] of rows.entries()) {
    const startedNs = process.hrtime.bigint();
    for (let calls = 0; calls < CALLS; calls++) call();
    times[at].push(Number(process.hrtime.bigint() - startedNs) / CALLS);
    // Rounds of the strict log, without which the slots are not this node's.
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
console.log(`ns, ${ROUNDS} rounds of ${CALLS}`);
console.log('                                       least  median');
for (const [at, [name]] of rows.entries()) {
  const sorted = times[at].sort((one, other) => one - other);
  console.log(`${name.padEnd(36)}${sorted[0].toFixed(0).padStart(8)}${sorted[ROUNDS >> 1].toFixed(0).padStart(8)}`);
}
await node.close();

function enterAndRelease(group: string): void {
  const slot = node.tryEnter(group);
  if (!slot.granted) throw new Error(`${group}: ${slot.because}`);
  slot.release();
}

async function firstSlot(asked: QuotaNode, group: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    using slot = await asked.enter(group, undefined, { waitMs: 1000 });
    if (slot.granted) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no slot of ${group} after 30 s`);
}
