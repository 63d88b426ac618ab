import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from '../cluster/cluster.js';
import { runInProcess } from '../unit/cli/run-in-process.js';

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
    await quotamesh('b', 'group', 'set', 'new', 'quota.publish.messagesPerSecond=null');
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

  it('attached by the command at one, limited at all; explained, exported, and a group in use stays', async () => {
    await quotamesh('a', 'group', 'set', 'stop', 'quota.publish.messagesPerSecond=0');
    await quotamesh('a', 'group', 'attach', 'stop', '--tenant', 'acme');
    await quotamesh('b', 'group', 'attach', 'orders', '--tenant', 'acme', '--namespace', 'both', '--and-broader');
    await quotamesh('c', 'group', 'attach', '--exempt', '--tenant', 'acme', '--namespace', 'copy');
    for (const id of ['a', 'b', 'c']) {
      await expect.poll(() => acquireAt(id, 'acme', 'any'), POLL).toBe(429);
      await expect.poll(() => acquireAt(id, 'acme', 'both'), POLL).toBe(429);
      await expect.poll(() => acquireAt(id, 'acme', 'copy'), POLL).toBe(200);
    }
    expect((await quotamesh('a', 'group', 'which', '--tenant', 'acme', '--namespace', 'both')).stdout).toBe(
      'orders, stop, all at once: the stricter wins\n' +
        '  namespace acme/both → orders (run-time); and broader\n  tenant acme → stop (run-time)\n',
    );
    expect((await quotamesh('a', 'group', 'export')).stdout).toContain('acme/copy:\n      exempt: true');
    await expect(quotamesh('a', 'group', 'delete', 'stop')).rejects.toMatchObject({ code: 78 });
    await expect(quotamesh('a', 'group', 'attach', '--tenant', 'acme')).rejects.toMatchObject({ code: 2 });
    await quotamesh('b', 'group', 'detach', '--tenant', 'acme', '--namespace', 'both');
    await quotamesh('b', 'group', 'delete', 'stop', '--force');
    for (const id of ['a', 'b', 'c']) await expect.poll(() => acquireAt(id, 'acme', 'both'), POLL).toBe(404);
  });

  const POLL = { timeout: 20_000 };

  async function quotamesh(id: string, ...args: string[]): Promise<{ readonly stdout: string }> {
    const ended = await runInProcess([...args, '--url', cluster.url(id)], { ...process.env });
    if (ended.code !== 0) throw Object.assign(new Error(ended.stderr), ended);
    return ended;
  }

  const acquireAt = (id: string, tenant: string, namespace: string) => post(id, { tenant, namespace, messages: 1 });
  const acquire = (id: string, group: string) => post(id, { group, messages: 1 });

  async function post(id: string, asked: object): Promise<number> {
    const body = JSON.stringify(asked);
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(`${cluster.url(id)}/v1/acquire`, { method: 'POST', headers, body });
    await response.arrayBuffer();
    return response.status;
  }
});
