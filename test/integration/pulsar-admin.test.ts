import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AuditedChange } from '../../src/node/api/change-answers.js';
import { Cluster } from '../cluster/cluster.js';
import { sharedKafka } from '../kafka/shared-kafka.js';
import { PulsarAdmin, type PulsarShell } from '../pulsar/admin-client.js';

/** Fetched before the tests are collected, so that what cannot be had is skipped aloud; pulsar-routes.test.ts replays its requests anyway. */
const admin = await PulsarAdmin.fetch().catch((error: Error) => {
  console.log(`skipped: ${error.message}`);
  return null;
});

describe.skipIf(admin === null)('Pulsar’s admin client against a three-node cluster on Kafka', () => {
  let cluster: Cluster;
  let shell: PulsarShell;
  beforeAll(async () => {
    const topic = { kind: 'kafka', brokers: await sharedKafka(), name: `pulsar-admin-${process.pid}` };
    cluster = await Cluster.create({ topic });
    await cluster.start('a', 'b', 'c');
    shell = await admin!.shell(cluster.url('a'));
  }, 120_000);
  afterAll(async () => {
    await shell?.stop();
    await cluster?.stop();
  });

  const POLL = { timeout: 20_000 };

  async function says(...words: string[]): Promise<string> {
    const { out, error } = await shell.say(...words);
    expect(error).toBe('');
    return out;
  }

  async function acquire(id: string, body: Readonly<Record<string, unknown>>): Promise<number> {
    const headers = { 'content-type': 'application/json' };
    const sent = JSON.stringify({ messages: 1, ...body });
    const response = await fetch(`${cluster.url(id)}/v1/acquire`, { method: 'POST', headers, body: sent });
    await response.arrayBuffer();
    return response.status;
  }

  it('resourcegroups create, get, update, list, delete', { timeout: 240_000 }, async () => {
    expect(
      await says('resourcegroups', 'create', 'rg', '-mp', '0', '-bp', '600', '-md', '7', '-bd', '8000000000'),
    ).toBe('');
    expect(JSON.parse(await says('resourcegroups', 'get', 'rg'))).toEqual({
      publishRateInMsgs: 0,
      publishRateInBytes: 600,
      dispatchRateInMsgs: 7,
      dispatchRateInBytes: 8_000_000_000,
    });
    for (const id of ['b', 'c']) {
      await expect.poll(() => acquire(id, { group: 'rg' }), POLL).toBe(429);
      await expect.poll(() => acquire(id, { group: 'rg', direction: 'dispatch' }), POLL).toBe(200);
    }
    expect(await says('resourcegroups', 'update', 'rg', '-mp', '-1', '-bp', '-1')).toBe('');
    expect(JSON.parse(await says('resourcegroups', 'get', 'rg'))).toMatchObject({ dispatchRateInMsgs: 7 });
    for (const id of ['b', 'c']) await expect.poll(() => acquire(id, { group: 'rg' }), POLL).toBe(200);
    expect((await says('resourcegroups', 'list')).split('\n').sort()).toEqual(['orders', 'rg']);
    expect(await says('resourcegroups', 'delete', 'rg')).toBe('');
    for (const id of ['b', 'c']) await expect.poll(() => acquire(id, { group: 'rg' }), POLL).toBe(404);
  });

  it('namespaces set-, get-, remove-resource-group', { timeout: 240_000 }, async () => {
    const scope = { tenant: 'acme', namespace: 'orders' };
    await says('resourcegroups', 'create', 'stop', '-mp', '0');
    expect(await says('namespaces', 'set-resource-group', 'acme/orders', '-rgn', 'stop')).toBe('');
    expect(await says('namespaces', 'get-resource-group', 'acme/orders')).toBe('stop');
    for (const id of ['b', 'c']) await expect.poll(() => acquire(id, scope), POLL).toBe(429);
    const inUse = await shell.say('resourcegroups', 'delete', 'stop');
    expect(inUse.error).toContain('Reason: group stop is in use: acme/orders is attached to it');
    expect(await says('namespaces', 'remove-resource-group', 'acme/orders')).toBe('');
    for (const id of ['b', 'c']) await expect.poll(() => acquire(id, scope), POLL).toBe(404);
    expect(await says('resourcegroups', 'delete', 'stop')).toBe('');
  });

  it('every node tells who changed what, and when', async () => {
    const trail = async (id: string): Promise<AuditedChange[]> => {
      const { changes } = (await (await fetch(`${cluster.url(id)}/v1/audit`)).json()) as { changes: AuditedChange[] };
      return changes;
    };
    const line = ({ who, node, what, kind, name }: AuditedChange) => [who?.name, node, what, kind, name].join(' ');
    for (const id of ['b', 'c']) {
      await expect
        .poll(async () => (await trail(id)).map(line), POLL)
        .toEqual([
          'loopback a made group rg',
          'loopback a changed group rg',
          'loopback a deleted group rg',
          'loopback a made group stop',
          'loopback a made attachment acme/orders',
          'loopback a deleted attachment acme/orders',
          'loopback a deleted group stop',
        ]);
    }
    const [ofB, ofC] = [await trail('b'), await trail('c')];
    expect(ofC).toEqual(ofB);
    expect(ofB[1]?.before).toEqual(ofB[0]?.after);
    for (const { time, who } of ofB) {
      expect(Math.abs(Date.now() - Date.parse(time ?? ''))).toBeLessThan(600_000);
      expect(who).toMatchObject({ how: 'open', requestId: expect.any(String) });
    }
  });

  it.each([
    [['resourcegroups', 'get', 'missing'], 'ResourceGroup does not exist'],
    [['namespaces', 'set-resource-group', 'acme/orders', '-rgn', 'missing'], 'ResourceGroup does not exist'],
    [['resourcegroups', 'create', 'a b', '-mp', '1'], 'name of 1 to 200'],
    [['resourcegroups', 'create', '..', '-mp', '1'], 'no such route'],
    [['resourcegroups', 'create', '', '-mp', '1'], 'does not take PUT'],
  ])('%j fails with a reason, and does no harm', { timeout: 120_000 }, async (words, reason) => {
    const { error } = await shell.say(...words);
    expect(error).toContain(reason);
    const groups = await fetch(`${cluster.url('b')}/admin/v2/resourcegroups`);
    expect(await groups.json()).toEqual(['orders']);
  });

  it('as a command of its own says the same, and ends with 0 or 1', { timeout: 120_000 }, async () => {
    const call = (...words: string[]) => admin!.call(cluster.url('a'), ...words);
    const missing = ['resourcegroups', 'get', 'missing'];
    const [list, failed] = await Promise.all([call('resourcegroups', 'list'), call(...missing)]);
    expect(list).toEqual({ exitCode: 0, out: 'orders', error: '' });
    expect(failed).toMatchObject({ exitCode: 1, error: (await shell.say(...missing)).error });
  });
});
