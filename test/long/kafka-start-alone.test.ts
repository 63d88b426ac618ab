import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createNode, type QuotaNode } from '../../src/index.js';
import { KAFKA_START_TIMEOUT_MS, type Kafka, startKafka } from '../kafka/kafka.js';
import { worstSecond } from '../worst-second.js';

const NODES = ['a', 'b', 'c'];
const QUOTA = 900;
const AWAY_MS = 5000;
/** A bucket holds 100 ms: of a third of the quota at each node alone, of the quota in the cluster. */
const DEPTH = 0.1 * QUOTA;
/** Each may have a part of a message left. */
const PIECES = NODES.length;
/** What was not taken while this process had no processor may be taken for so long. */
const CREDIT = 0.15 * QUOTA;
/** The topic is missed after `isolationAfterMs`; a process that starts on a busy machine takes its time. */
const READY_MS = 30_000;

let kafka: Kafka;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-start-alone-'));
  kafka = await startKafka();
}, KAFKA_START_TIMEOUT_MS);
afterAll(async () => {
  await kafka?.stop();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const running: QuotaNode[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((node) => node.close()));
});

const fileOf = (nodeId: string) => join(folder, `${nodeId}.json`);

function started(): Promise<QuotaNode[]> {
  const group = { quota: { publish: { messagesPerSecond: QUOTA } } };
  return Promise.all(
    NODES.map(async (nodeId) => {
      const config = {
        cluster: 'deploy',
        topic: { kind: 'kafka', brokers: kafka.brokers, name: 'start-alone' },
        groups: { calls: group },
        keys: { 'key:{id}': group },
        start: { policy: 'alone', file: fileOf(nodeId) },
      };
      const node = await createNode({ config, nodeId, env: {}, readyTimeoutMs: READY_MS });
      running.push(node);
      return node;
    }),
  );
}

/** When each message of any node was granted, while all of them take what they get. */
async function saturated(nodes: readonly QuotaNode[], group: string, forMs: number): Promise<number[]> {
  const granted: number[] = [];
  for (const untilMs = performance.now() + forMs; performance.now() < untilMs; await sleep(2)) {
    for (const node of nodes) while (node.tryAcquire(group, { messages: 1 }).granted) granted.push(performance.now());
  }
  return granted;
}

const isAlone = (node: QuotaNode) => node.status().degraded.some((each) => each.startsWith('alone'));

test('a deploy while Kafka is stopped: all nodes start, and admit the quota together, groups and keys', async () => {
  const before = await started();
  const said = (nodeId: string) => existsSync(fileOf(nodeId)) && JSON.parse(readFileSync(fileOf(nodeId), 'utf8')).nodes;
  await expect.poll(() => NODES.map(said), { timeout: READY_MS }).toEqual([3, 3, 3]);
  await before[0]?.groups.set('registry', { quota: { publish: { messagesPerSecond: QUOTA } } });
  await Promise.all(running.splice(0).map((node) => node.close()));
  await kafka.nodes[0]?.kill();

  const nodes = await started();
  expect(nodes.map(isAlone)).toEqual([true, true, true]);
  for (const group of ['key:alice', 'calls']) {
    const granted = await saturated(nodes, group, AWAY_MS);
    console.log(
      `${group}, alone: ${granted.length} in ${AWAY_MS} ms of ${QUOTA}/s, worst second ${worstSecond(granted)}`,
    );
    // A stalled process loses what its bucket of 100 ms cannot hold.
    expect(granted.length).toBeGreaterThan(0.2 * QUOTA * (AWAY_MS / 1000));
    expect(worstSecond(granted)).toBeLessThanOrEqual(QUOTA + DEPTH + PIECES);
  }
  expect(() => nodes[0]?.tryAcquire('registry', { messages: 1 })).toThrow('is not configured');
  await expect(nodes[0]?.groups.set('new', {})).rejects.toMatchObject({ httpStatus: 503 });

  // Nobody pauses meanwhile: a bucket that is not used fills, alone or not.
  const granted: number[] = [];
  let isBack = false;
  const back = kafka.nodes[0]?.start().finally(() => {
    isBack = true;
  });
  back?.catch(() => undefined);
  while (!isBack) granted.push(...(await saturated(nodes, 'calls', 500)));
  await back;
  /** Grants of the slice in which the last node may have joined. */
  const last: number[] = [];
  // Each holds what it had until the others have counted it: 2 × stalenessMs at most, and what a reconnection takes.
  for (const untilMs = performance.now() + 60_000; nodes.some((node) => node.status().degraded.length > 0); ) {
    expect(performance.now()).toBeLessThan(untilMs);
    granted.push(...last.splice(0));
    last.push(...(await saturated(nodes, 'calls', 50)));
  }
  const joined = [...last, ...(await saturated(nodes, 'calls', AWAY_MS))];
  console.log(`calls, until all have joined: worst second ${worstSecond(granted)}; then ${worstSecond(joined)}`);
  // Nobody rises before all have come.
  expect(worstSecond(granted)).toBeLessThanOrEqual(QUOTA + DEPTH + PIECES);
  // Then tokens are shared, and buckets are those that they were: a second may hold the end of one, and all of the other.
  expect(worstSecond([...granted, ...joined])).toBeLessThanOrEqual(QUOTA + 2 * DEPTH + CREDIT + PIECES);
  expect(nodes.map((node) => node.status().members.map(({ nodeId }) => nodeId))).toEqual([NODES, NODES, NODES]);
  await expect.poll(() => nodes.map(({ groups }) => groups.list().length), { timeout: READY_MS }).toEqual([2, 2, 2]);
}, 240_000);
