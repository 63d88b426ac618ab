import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster, untilReady } from '../cluster/cluster.js';

const CLI = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
const KILLS = 6;

interface Definition {
  readonly definition: Readonly<Record<string, unknown>>;
  readonly revision: number;
}

describe('groups at run time, three processes on the embedded topic', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.create({ topic: 'embedded' });
    await cluster.start('a', 'b', 'c');
  });
  afterAll(() => cluster.stop());

  it('made, changed and deleted by the command at one, enforced by all', async () => {
    await quotamesh('a', 'group', 'set', 'new', 'quota.publish.messagesPerSecond=0');
    for (const id of ['a', 'b', 'c']) await expect.poll(() => acquire(id, 'new'), POLL).toBe(429);
    await quotamesh('b', 'group', 'set', 'new', 'quota.publish.messagesPerSecond=');
    for (const id of ['a', 'b', 'c']) await expect.poll(() => acquire(id, 'new'), POLL).toBe(200);
    await quotamesh('c', 'quota', 'set', 'new', 'total_throughput', '10MiB');
    await expect
      .poll(async () => (await quotamesh('a', 'quota', 'get', 'new')).stdout, POLL)
      .toBe('reserved_throughput <empty>\ntotal_throughput 10485760\n');
    await quotamesh('a', 'quota', 'clear', 'new');
    expect((await quotamesh('a', 'group', 'export')).stdout).toContain('groups:\n  new:');
    await quotamesh('a', 'group', 'delete', 'new');
    for (const id of ['a', 'b', 'c']) await expect.poll(() => acquire(id, 'new'), POLL).toBe(404);
    await expect(quotamesh('a', 'group', 'set', 'new', 'strategy=fair')).rejects.toMatchObject({ code: 78 });
    await expect(quotamesh('a', 'group', 'get', 'new')).rejects.toMatchObject({ code: 2 });
  });

  it(`kill -9 in the middle of changes, ${KILLS} times: what was answered is never lost`, async () => {
    let [next, answered] = [1, 0];
    for (let kill = 0; kill < KILLS; kill++) {
      const changes = (async () => {
        for (;;) {
          const n = next++;
          const status = await put('b', n).catch(() => null);
          if (status === null) return;
          expect(status).toBeLessThan(300);
          answered = n;
        }
      })();
      await sleep(100 + kill * 37);
      cluster.node('b').child.kill('SIGKILL');
      await cluster.node('b').exited;
      await changes;
      await untilReady(await cluster.spawn('b'));
      const counts = await Promise.all(['a', 'b', 'c'].map((id) => count(id)));
      for (const counted of counts) expect(counted).toBeGreaterThanOrEqual(answered);
      await expect
        .poll(async () => new Set(await Promise.all(['a', 'b', 'c'].map((id) => count(id)))).size, POLL)
        .toBe(1);
    }
    expect(answered).toBeGreaterThan(KILLS);
  });

  const POLL = { timeout: 20_000 };

  async function quotamesh(id: string, ...args: string[]): Promise<{ readonly stdout: string }> {
    return await promisify(execFile)(process.execPath, [CLI, ...args, '--url', cluster.url(id)]);
  }

  async function acquire(id: string, group: string): Promise<number> {
    const body = JSON.stringify({ group, messages: 1 });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${cluster.url(id)}/v1/acquire`, { method: 'POST', headers, body });
    await response.arrayBuffer();
    return response.status;
  }

  async function put(id: string, n: number): Promise<number> {
    const body = JSON.stringify({ burstMinMessages: n });
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${cluster.url(id)}/v1/groups/counted`, { method: 'PUT', headers, body });
    await response.arrayBuffer();
    return response.status;
  }

  async function count(id: string): Promise<number> {
    const response = await fetch(`${cluster.url(id)}/v1/groups/counted/definition`);
    const { definition } = (await response.json()) as Definition;
    return Number(definition.burstMinMessages);
  }
});
