import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { resolveConfig } from '../../src/config/read/resolve-config.js';
import { createNode } from '../../src/doors/library/create-node.js';
import type { QuotaNode } from '../../src/node/api/quota-node.js';
import { partsOf } from '../../src/node/loop/parts-of.js';
import { freePorts } from '../../src/tools/processes/free-ports.js';
import { NodeProcess } from '../../src/tools/processes/node-process.js';
import { KAFKA_START_TIMEOUT_MS } from '../kafka/kafka.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

const PER_SECOND = 100;
const DEPTH = 100;
/** Requests a second, of all clients together. */
const OFFERED = 200;
/** Longer than the expiry. */
const FROZEN_MS = 7000;
const SECONDS = 20;
/** Milliseconds by which the clock of the log and that of the judge differ, of whole ones. */
const ROUNDED_MS = 4;
/** Grants that show that tokens flow: how many, a loaded machine decides. */
const LEAST_GRANTS = 2 * DEPTH;

/** A change of YAML is published within 5 s, and a bucket begins after 5 s of silence. */
const WITHIN_MS = 60_000;

interface Grant {
  readonly sentMs: number;
  readonly answeredMs: number;
}

const nodes: NodeProcess[] = [];
let folder = '';
afterEach(async () => {
  for (const { child } of nodes) child.signal('SIGKILL');
  await Promise.all(nodes.splice(0).map(({ child }) => child.ended));
  if (folder !== '') await rm(folder, { recursive: true, force: true });
});

test('nodes on an embedded topic, one frozen past the expiry and one killed, grant what one bucket would', async () => {
  await play({ kind: 'embedded', path: './state' });
}, 120_000);

test(
  'and so on Kafka',
  async () => {
    const [brokers] = [await sharedKafka()];
    await play({ kind: 'kafka', brokers, name: `strict-${process.pid}`, acceptSingleReplica: true });
  },
  120_000 + KAFKA_START_TIMEOUT_MS,
);

test('a group becomes strict while nodes run, once the YAML of all says so; and relaxed again at once', async () => {
  const raw = (promise: string) => {
    const group = { promise, quota: { publish: { messagesPerSecond: PER_SECOND } }, burst: DEPTH };
    return { cluster: 'strict-changes', topic: 'memory', groups: { paid: group } };
  };
  const started = await Promise.all(['a', 'b'].map((nodeId) => createNode({ config: raw('relaxed'), nodeId })));
  const take = (node: QuotaNode, promise: string) => {
    partsOf(node).yaml.take(resolveConfig({ ...raw(promise), node: node.nodeId }, { source: '(test)', env: {} }));
  };
  const told = () => started.map((node) => node.groupStatus('paid'));
  try {
    await Promise.all(started.map((node) => node.acquire('paid', { messages: 1 }, { waitMs: 5000 })));
    take(started[0], 'strict');
    await expect.poll(() => told()[0].strictAwaits, { timeout: WITHIN_MS }).toEqual(['b']);
    expect(told().map(({ promise }) => promise)).toEqual(['relaxed', 'relaxed']);
    expect(started[0].tryAcquire('paid', { messages: 1 }).granted).toBe(true);
    take(started[1], 'strict');
    await expect.poll(() => told()[0].promise, { timeout: WITHIN_MS }).toBe('strict');
    expect(told()[0].directions.publish.strict?.state).toBe('learning');
    const kept = () => told().map(({ promise, directions }) => `${promise} ${directions.publish.strict?.state}`);
    await expect.poll(kept, { timeout: WITHIN_MS }).toEqual(['strict kept', 'strict kept']);
    expect((await started[1].acquire('paid', { messages: 1 }, { waitMs: 5000 })).granted).toBe(true);
    take(started[1], 'relaxed');
    expect(told()[1].promise).toBe('relaxed');
    await expect.poll(kept, { timeout: WITHIN_MS }).toEqual(['strict others-relaxed', 'relaxed undefined']);
  } finally {
    await Promise.all(started.map((node) => node.close()));
  }
}, 180_000);

async function play(topic: object): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'quotamesh-strict-nodes-'));
  const paid = { promise: 'strict', quota: { publish: { messagesPerSecond: PER_SECOND } }, burst: DEPTH };
  const configFile = join(folder, 'node.yaml');
  await writeFile(configFile, JSON.stringify({ cluster: 'strict', topic, groups: { paid } }));
  const ports = await freePorts(3);
  const start = async (at: number) => {
    const node = new NodeProcess({ id: `n${at}`, port: ports[at], configFile });
    nodes.push(node);
    await node.ready();
  };
  await Promise.all([0, 1, 2].map(start));
  const grants: Grant[] = [];
  const untilMs = performance.now() + 1000 * SECONDS;
  const clients = ports.map((port) => ask(`http://127.0.0.1:${port}`, OFFERED / 3, untilMs, grants));
  await sleep(7000);
  const [frozen, killed] = nodes;
  frozen.child.signal('SIGSTOP');
  killed.child.signal('SIGKILL');
  await sleep(1000);
  await start(1);
  await sleep(FROZEN_MS - 1000);
  frozen.child.signal('SIGCONT');
  await Promise.all(clients);
  judge(grants);
}

/** Asks at a steady rate, whatever the answers; who is down grants nothing. */
async function ask(url: string, perSecond: number, untilMs: number, grants: Grant[]): Promise<void> {
  const begunMs = performance.now();
  const waiting = new Set<Promise<void>>();
  for (let sent = 0; performance.now() < untilMs; await sleep(5)) {
    for (; sent < ((performance.now() - begunMs) / 1000) * perSecond; sent++) {
      const asked = askOnce(url, grants).finally(() => waiting.delete(asked));
      waiting.add(asked);
    }
  }
  await Promise.all(waiting);
}

async function askOnce(url: string, grants: Grant[]): Promise<void> {
  const sentMs = performance.now();
  const body = JSON.stringify({ group: 'paid', messages: 1 });
  const headers = { 'content-type': 'application/json' };
  const asked = { method: 'POST', headers, body, signal: AbortSignal.timeout(15_000) };
  try {
    const answer = await fetch(`${url}/v1/acquire`, asked);
    const { granted } = (await answer.json()) as { readonly granted?: boolean };
    if (granted === true) grants.push({ sentMs, answeredMs: performance.now() });
  } catch {
    // A killed node.
  }
}

/** Compares every window with one bucket: what was asked and answered within it was granted within it. */
function judge(grants: readonly Grant[]): void {
  const inOrder = [...grants].sort((one, other) => one.answeredMs - other.answeredMs);
  const begins = inOrder.map(({ sentMs }) => sentMs).sort((one, other) => one - other);
  let over = -Infinity;
  for (let at = 0; at < begins.length; at += 5) {
    let within = 0;
    for (const { sentMs, answeredMs } of inOrder) {
      if (sentMs < begins[at]) continue;
      within++;
      const flows = (PER_SECOND * (answeredMs - begins[at] + ROUNDED_MS)) / 1000;
      over = Math.max(over, within - DEPTH - flows);
    }
  }
  const ms = (inOrder.at(-1)?.answeredMs ?? 0) - (begins[0] ?? 0);
  const possible = DEPTH + (PER_SECOND * ms) / 1000;
  console.log(`strict nodes: ${grants.length} of ${Math.floor(possible)} granted, worst window ${over.toFixed(1)}`);
  expect(over).toBeLessThanOrEqual(0);
  expect(grants.length).toBeGreaterThan(LEAST_GRANTS);
}
