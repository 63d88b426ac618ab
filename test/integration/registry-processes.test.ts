import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from '../cluster/cluster.js';
import { killWriter } from '../cluster/registry-kills.js';

const CLI = fileURLToPath(new URL('../../dist/src/cli.js', import.meta.url));
/** Whole nodes with their HTTP servers; many more without: registry-kill.test.ts. */
const KILLS = 3;
const UPDATES = 1000;

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

  it('1,000 conflicting updates with If-Match through all three: none is lost, and all have the same at the end', async () => {
    await change('a', 'counter', 1, {});
    let [asked, taken] = [0, 0];
    const client = async (id: string) => {
      while (asked < UPDATES) {
        const read = await definitionAt(id, 'counter');
        if (read.etag === null) continue;
        asked++;
        const status = await change(id, 'counter', read.count + 1, { 'if-match': read.etag });
        expect([200, 412]).toContain(status);
        if (status === 200) taken++;
      }
    };
    const ids = ['a', 'b', 'c'];
    await Promise.all([...ids, ...ids, ...ids, ...ids].map(client));
    expect(taken).toBeGreaterThan(UPDATES / 50);
    const wanted = { count: taken + 1, etag: (await definitionAt('a', 'counter')).etag };
    for (const id of ids) await expect.poll(() => definitionAt(id, 'counter'), POLL).toEqual(wanted);
  }, 180_000);

  it(`kill -9 in the middle of changes, ${KILLS} times: what was answered is never lost`, async () => {
    const { answered, broken } = await killWriter(cluster, ['a', 'b', 'c'], KILLS);
    expect(broken).toEqual([]);
    expect(answered).toBeGreaterThan(KILLS);
  }, 180_000);

  const POLL = { timeout: 20_000 };

  async function quotamesh(id: string, ...args: string[]): Promise<{ readonly stdout: string }> {
    return await promisify(execFile)(process.execPath, [CLI, ...args, '--url', cluster.url(id)]);
  }

  async function change(id: string, group: string, count: number, headers: Record<string, string>): Promise<number> {
    const response = await fetch(`${cluster.url(id)}/v1/groups/${group}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ burstMinMessages: count }),
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** etag null where the node does not know it yet. */
  async function definitionAt(
    id: string,
    group: string,
  ): Promise<{ readonly count: number; readonly etag: string | null }> {
    const response = await fetch(`${cluster.url(id)}/v1/groups/${group}/definition`);
    const { definition } = (await response.json()) as { readonly definition?: { readonly burstMinMessages: number } };
    return { count: definition?.burstMinMessages ?? 0, etag: response.headers.get('etag') };
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
