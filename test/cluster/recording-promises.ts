import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { COMMAND_FILE } from '../../src/base/package/package-root.js';
import { Child } from '../../src/tools/processes/child.js';
import { KAFKA_START_TIMEOUT_MS } from '../kafka/kafka.js';
import { Cluster, type ClusterOptions } from './cluster.js';

/** What `quotamesh record` promises, on a topic that nodes as processes share. */
export function recordingPromises(kind: string, topic: () => Promise<ClusterOptions['topic']>): void {
  describe(`a recording of a live cluster on the ${kind} topic`, () => {
    let cluster: Cluster;

    beforeAll(async () => {
      cluster = await Cluster.create({ topic: await topic(), quota: 100 });
    }, KAFKA_START_TIMEOUT_MS);

    afterAll(() => cluster?.stop());

    test('SIGINT closes it, and its replay gives the shares that the live nodes held', async () => {
      await cluster.start('a', 'b');
      const config = join(cluster.folder, 'a.yaml');
      const file = join(cluster.folder, 'live.qmrec');
      const recorder = new Child([COMMAND_FILE, 'record', '--config', config, '--out', file]);
      const traffic = setInterval(() => void ask(cluster.url('a')), 10);
      await untilBegun(file);
      await sleep(3000);
      const live = await shares(cluster.url('a'));
      clearInterval(traffic);
      recorder.signal('SIGINT');
      expect((await recorder.ended).code, recorder.stderr).toBe(0);
      expect(recorder.stderr).toBe('');
      expect(recorder.stdout).toMatch(/^recorded [1-9]\d* records, .* in .*live\.qmrec\n$/);

      const replay = new Child([COMMAND_FILE, 'sim', 'replay', file, '--json']);
      expect((await replay.ended).code, replay.stderr).toBe(0);
      expect(replay.stderr).toBe('');
      const { end, runs, undecodable } = JSON.parse(replay.stdout);
      expect({ end, undecodable }).toEqual({ end: { isClosed: true, damage: null }, undecodable: 0 });
      const maxMin = runs.find(({ system }: { system: string }) => system === 'quotamesh max-min');
      expect([...maxMin.nodes].sort()).toEqual(['a', 'b']);
      // The share that the node told over HTTP is one of those that the replay goes through.
      const replayed: number[] = maxMin.series[0].perNode.a.limit;
      expect(live.a).toBeGreaterThan(0);
      expect(replayed.some((share) => Math.abs(share - live.a) < 0.01)).toBe(true);
      console.log(`recording: ${recorder.stdout.trim()}; ${maxMin.durationMs / 1000} s of log time`);
    });
  });
}

/** It takes the signals, and has read the topic's settings. */
async function untilBegun(file: string): Promise<void> {
  await vi.waitFor(async () => expect((await stat(file)).size).toBeGreaterThan(0), { timeout: 30_000, interval: 50 });
}

async function ask(url: string): Promise<void> {
  const body = JSON.stringify({ group: 'orders', messages: 1 });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/v1/acquire`, { method: 'POST', headers, body }).catch(() => null);
  await response?.arrayBuffer();
}

async function shares(url: string): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(`${url}/v1/groups/orders`);
  const { directions } = (await response.json()) as {
    directions: { publish: { nodes: { nodeId: string; share: { messagesPerSecond: number } }[] } };
  };
  return Object.fromEntries(directions.publish.nodes.map(({ nodeId, share }) => [nodeId, share.messagesPerSecond]));
}
