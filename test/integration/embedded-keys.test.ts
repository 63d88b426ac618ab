import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createNode } from '../../src/index.js';
import { randomOf } from '../property/random-of.js';

const PER_SECOND = 10;
/** The cluster's bucket of such a quota (core/account/cluster-depth.ts). */
const DEPTH = 10;
const NODES = 3;
const QUIET = 300;
const HOT = ['key:a', 'key:b', 'key:c'];
const ONE = { messages: 1 };
const PLAYED_MS = 6000;
/** Every hot key is asked for so often, and for what a machine that stood still has missed at once. */
const ASKED_PER_SECOND = 150;

test('three nodes in real time: quiet keys tell nobody, busy ones are held to quota and bursts', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'quotamesh-keys-'));
  const quota = { publish: { messagesPerSecond: PER_SECOND } };
  const nodes = await Promise.all(
    Array.from({ length: NODES }, (_, at) =>
      createNode({
        config: {
          cluster: 'keys',
          node: `node-${at}`,
          topic: { kind: 'embedded', path: folder },
          keys: { 'key:{id}': { quota }, 'calm:{id}': { quota } },
        },
        env: {},
      }),
    ),
  );
  onTestFinished(async () => {
    await Promise.all(nodes.map((node) => node.close()));
    await rm(folder, { recursive: true, force: true });
  });
  const keysOf = (node: (typeof nodes)[number], template: string) =>
    node.status().keys.find((counts) => counts.template === template)!;
  await Promise.all(nodes.map((node) => node.ready()));
  // All know each other, and buckets have filled.
  await sleep(3000);

  const random = randomOf(1);
  const grants = new Map(HOT.map((key) => [key, [] as { readonly fromMs: number; readonly toMs: number }[]]));
  const began = performance.now();
  let [asked, quiet, granted] = [0, 0, 0];
  /** Quiet keys asked for while the node was isolated, as on a machine that stands still: those are loud. */
  const asIsolated = nodes.map(() => 0);
  while (performance.now() - began < PLAYED_MS) {
    for (; asked < (ASKED_PER_SECOND * (performance.now() - began)) / 1000; asked++) {
      for (const key of HOT) {
        const node = nodes[Math.floor(random() * NODES)];
        // As a client that asks until it is refused, now and then.
        for (let left = random() < 0.05 ? 40 : 1; left > 0; left--) {
          const fromMs = performance.now();
          if (node.tryAcquire(key, ONE).granted) grants.get(key)!.push({ fromMs, toMs: performance.now() });
        }
      }
    }
    const due = (QUIET * (performance.now() - began)) / PLAYED_MS;
    for (; quiet < due && quiet < QUIET; quiet++) {
      const node = nodes[quiet % NODES];
      const decision = node.tryAcquire(`calm:${quiet}`, ONE);
      if (node.status().degraded.some((state) => state.startsWith('isolated'))) asIsolated[quiet % NODES]++;
      // On a machine that stands still a node has slept, and decides nothing before its next round.
      else if (decision.granted) granted++;
      else expect(decision.reason).toBe('not-ready');
    }
    await sleep(5);
    // Gives the nodes a turn: one that has slept decides nothing before its next round.
    await turn();
  }

  expect(granted).toBeGreaterThan(0);
  for (const [key, ofKey] of grants) {
    expect(ofKey.length, key).toBeGreaterThan((PER_SECOND * PLAYED_MS) / 2000);
    for (let from = 0; from < ofKey.length; from++) {
      for (let to = from; to < ofKey.length; to++) {
        const seconds = (ofKey[to].toMs - ofKey[from].fromMs) / 1000;
        // One depth unpublished, three aloud, and one request at each node.
        const most = PER_SECOND * seconds + 4 * DEPTH + NODES;
        if (to - from + 1 > most) expect.fail(`${key}: ${to - from + 1} granted in ${seconds} s`);
      }
    }
  }
  for (const [at, node] of nodes.entries()) {
    expect(keysOf(node, 'calm:{id}')).toMatchObject({ loud: asIsolated[at], refused: 0 });
    expect(keysOf(node, 'key:{id}').loud).toBe(HOT.length);
  }
}, 60_000);
