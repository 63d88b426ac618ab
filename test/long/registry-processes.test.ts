import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from '../cluster/cluster.js';
import { killWriter } from '../cluster/registry-kills.js';

/** Whole nodes with their HTTP servers; many more without: test/integration/registry-kill.test.ts. */
const KILLS = 10;
const UPDATES = 1000;
const POLL = { timeout: 20_000 };

describe('changes over HTTP, three processes on the embedded topic', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.create({ topic: 'embedded' });
    await cluster.start('a', 'b', 'c');
  });
  afterAll(() => cluster.stop());

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

  async function change(id: string, group: string, count: number, headers: Record<string, string>): Promise<number> {
    const response = await fetch(`${cluster.url(id)}/v1/groups/${group}`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ expectedCost: count }),
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
    const { definition } = (await response.json()) as { readonly definition?: { readonly expectedCost: number } };
    return { count: definition?.expectedCost ?? 0, etag: response.headers.get('etag') };
  }
});
