import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { createMemoryLog, type MemoryLog } from '../../../src/topic/memory/memory-log.js';
import { MemoryTopic } from '../../../src/topic/memory/memory-topic.js';
import { WholeNode } from '../../whole-node.js';
import { worstSecond } from '../../worst-second.js';
import { VirtualTime } from '../demo/virtual-time.js';
import { AwayTopic } from './away-topic.js';

const QUOTA = 900;
const AWAY_MS = 300;
/** How long a node waits before it is ready: heartbeats of others, and its own record back. */
const START_MS = 10_000;
const STEP_MS = 10;

let time: VirtualTime;
let folder: string;
let log: MemoryLog;
let lines: { readonly level: string; readonly text: string }[];
const nodes: WholeNode[] = [];
beforeEach(() => {
  time = new VirtualTime();
  folder = mkdtempSync(join(tmpdir(), 'quotamesh-alone-'));
  log = createMemoryLog();
  lines = [];
});
afterEach(async () => {
  await within(Promise.all(nodes.splice(0).map((node) => node.close())));
  time.end();
  rmSync(folder, { recursive: true, force: true });
});

/** Lets time pass until something has come. */
async function within<T>(coming: Promise<T>, mostMs = START_MS): Promise<T> {
  let isThere = false;
  const settled = () => {
    isThere = true;
  };
  coming.then(settled, settled);
  for (let ms = 0; !isThere && ms < mostMs; ms += STEP_MS) await time.advance(STEP_MS);
  if (!isThere) throw new Error(`not within ${mostMs} ms`);
  return coming;
}

const started = (...starting: WholeNode[]) =>
  within(Promise.all(starting.flatMap((node) => [node.start(), node.ready(START_MS)])));

function nodeOn(topic: MemoryTopic, nodeId: string, start: object = {}): WholeNode {
  const group = { quota: { publish: { messagesPerSecond: QUOTA } } };
  const raw = {
    cluster: 'deploy',
    node: nodeId,
    topic: 'memory',
    timing: { heartbeatMs: 100 },
    groups: { calls: group },
    keys: { 'key:{id}': group },
    start,
  };
  const telemetry = { log: (level: string, text: string) => void lines.push({ level, text }) };
  const config = resolveConfig(raw, { source: '(test)', constants: { timing: { isolationAfterMs: AWAY_MS } } });
  const node = new WholeNode({
    config,
    topic,
    telemetry,
    version: '0',
    nonce: nodes.length,
    clock: () => performance.now(),
  });
  nodes.push(node);
  return node;
}

const fileOf = () => join(folder, 'a.json');
function keep(said: unknown): { policy: string; file: string } {
  writeFileSync(fileOf(), typeof said === 'string' ? said : JSON.stringify(said));
  return { policy: 'alone', file: fileOf() };
}

/** Takes whatever is granted, all at each step; returns when each message of each node was. */
async function saturate(taking: readonly WholeNode[], forMs: number, group = 'calls'): Promise<number[][]> {
  const granted = taking.map((): number[] => []);
  for (let ms = 0; ms < forMs; ms += STEP_MS) {
    await time.advance(STEP_MS);
    for (const [at, node] of taking.entries()) {
      while (node.tryAcquire(group, { messages: 1, bytes: 0 }).granted) granted[at].push(performance.now());
    }
  }
  return granted;
}

const told = (part: string) => lines.filter(({ text }) => text.includes(part));

describe('start.policy: alone, with a topic that is away', () => {
  it('names the setting that would let it start, while its topic is away and it waits', async () => {
    const waiting = nodeOn(new AwayTopic(log), 'w');
    waiting.start().catch(() => undefined);
    await expect(within(waiting.ready(50))).rejects.toThrow('start.policy: alone would let it decide without');
    const unknown = nodeOn(new AwayTopic(log), 'u', { policy: 'alone' });
    unknown.start().catch(() => undefined);
    await expect(within(unknown.ready(50))).rejects.toThrow('start.policy: alone needs start.file or start.nodeCount');
  });

  it('the node goes on alone where the topic comes with other partitions, and says what to do', async () => {
    const topic = new AwayTopic(log);
    const node = nodeOn(topic, 'a', keep({ cluster: 'deploy', nodes: 3, partitions: 2 }));
    await started(node);
    const remedy = expect.stringMatching(/started alone with 2 partitions, it has 1: set topic.partitions to 1/);
    topic.come();
    await time.advance(1000);
    expect(node.status().degraded).toContainEqual(remedy);
    topic.comeAgain();
    expect(node.status().degraded).toContainEqual(remedy);
  });

  it('the node decides with quota / nodes, says so, and joins the others without a burst when the topic comes', async () => {
    const other = nodeOn(new MemoryTopic(log), 'b');
    await started(other);
    const topic = new AwayTopic(log);
    const node = nodeOn(topic, 'a', keep({ cluster: 'deploy', nodes: 3, partitions: 1 }));
    await started(node);
    expect(node.status()).toMatchObject({ ready: true, pool: { size: 3 }, degraded: expect.arrayContaining([ALONE]) });
    const [alone] = await saturate([node, other], 2500);
    expect(alone.length).toBeGreaterThan(0.9 * (QUOTA / 3) * 2.5);
    expect(worstSecond(alone)).toBeLessThan(1.11 * (QUOTA / 3));
    topic.come();
    // The share is held until the node has read itself, and the others have counted it: 2 × stalenessMs at most.
    const held: number[] = [];
    for (const untilMs = performance.now() + 11_000; node.status().degraded.length > 0; ) {
      expect(performance.now()).toBeLessThan(untilMs);
      held.push(...(await saturate([node, other], 500))[0]);
    }
    const joined = await saturate([node, other], 3000);
    expect(node.status().members.map(({ nodeId }) => nodeId)).toEqual(['a', 'b']);
    // Half of the quota is the most that it ever gets beside a node that wants all.
    expect(worstSecond([...alone, ...held, ...joined[0]])).toBeLessThan(1.11 * (QUOTA / 2));
    const lastMs = performance.now() - 1500;
    const [own, others] = joined.map((times) => times.filter((at) => at > lastMs).length);
    expect(own + others).toBeLessThan(1.05 * QUOTA * 1.5);
    expect(own).toBeGreaterThan(0.4 * QUOTA * 1.5);
    expect(told('this node decides alone')).toHaveLength(1);
    expect(told('no longer alone')).toHaveLength(1);
    expect(node.groups.at(0)).toMatchObject({ nodeCount: 0 });
  });

  it('keys that templates make take their part, too, from their first use on', async () => {
    const node = nodeOn(new AwayTopic(log), 'a', keep({ cluster: 'deploy', nodes: 3, partitions: 1 }));
    await started(node);
    const [granted] = await saturate([node], 2500, 'key:alice');
    expect(granted.length).toBeGreaterThan(0.9 * (QUOTA / 3) * 2.5);
    expect(worstSecond(granted)).toBeLessThan(1.11 * (QUOTA / 3));
    // A key that is used for the first time later has saved up no more.
    const [later] = await saturate([node], 1500, 'key:bob');
    expect(worstSecond(later)).toBeLessThan(1.11 * (QUOTA / 3));
  });

  it('takes the larger one of what the file and start.nodeCount say', async () => {
    const start = { ...keep({ cluster: 'deploy', nodes: 3, partitions: 1 }), nodeCount: 9 };
    const node = nodeOn(new AwayTopic(log), 'a', start);
    await started(node);
    expect(node.groups.at(0).nodeCount).toBe(9);
  });

  it.each([
    ['no file', null],
    ['a damaged file', '{"cluster":"deploy","no'],
    ["another cluster's file", { cluster: 'other', nodes: 3, partitions: 1 }],
    ['a count that is none', { cluster: 'deploy', nodes: 0, partitions: 1 }],
  ])('%s: the node waits, and says why', async (_, said) => {
    const topic = new AwayTopic(log);
    const node = nodeOn(topic, 'a', said === null ? { policy: 'alone', file: fileOf() } : keep(said));
    const starting = node.start();
    await time.advance(AWAY_MS * 2);
    expect(node.status().ready).toBe(false);
    expect(told('do not say how many nodes there are: waiting')).toHaveLength(1);
    topic.come();
    await within(Promise.all([starting, node.ready(START_MS)]));
    expect(told('alone')).toHaveLength(0);
  });

  it('with policy wait the node is not ready until the topic comes', async () => {
    const topic = new AwayTopic(log);
    const node = nodeOn(topic, 'a', { nodeCount: 3 });
    const starting = node.start();
    await time.advance(AWAY_MS * 2);
    expect(node.status().ready).toBe(false);
    topic.come();
    await within(Promise.all([starting, node.ready(START_MS)]));
  });

  it('keeps in the file how many nodes there are, and not what a node sees that is alone', async () => {
    const [a, b] = [
      nodeOn(new MemoryTopic(log), 'a', { policy: 'alone', file: fileOf() }),
      nodeOn(new MemoryTopic(log), 'b'),
    ];
    await started(a, b);
    const said = () => JSON.parse(readFileSync(fileOf(), 'utf8')) as unknown;
    await time.advance(4000);
    // The disk has a clock of its own.
    await expect.poll(said, { timeout: 5000 }).toEqual({ cluster: 'deploy', nodes: 2, partitions: 1 });
    await within(b.close());
    await time.advance(1500);
    expect(said()).toMatchObject({ nodes: 2 });
    await within(a.close());
    const again = nodeOn(new AwayTopic(log), 'a', { policy: 'alone', file: fileOf() });
    await started(again);
    await time.advance(1500);
    expect(said()).toMatchObject({ nodes: 2 });
    expect(again.groups.at(0).nodeCount).toBe(2);
  });
});

const ALONE = 'alone: the topic was away at the start; quota / 3 until it comes';
