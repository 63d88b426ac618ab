import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Cluster } from '../cluster/cluster.js';
import { sharedKafka } from '../kafka/shared-kafka.js';
import { PulsarAdmin } from '../pulsar/admin-client.js';

/** Fetched before the tests are collected, so that what cannot be had is skipped aloud; pulsar-routes.test.ts replays its requests anyway. */
const admin = await PulsarAdmin.fetch().catch((error: Error) => {
  console.log(`skipped: ${error.message}`);
  return null;
});

describe.skipIf(admin === null)('Pulsar’s admin client against a three-node cluster on Kafka', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    const topic = { kind: 'kafka', brokers: await sharedKafka(), name: `pulsar-admin-${process.pid}` };
    cluster = await Cluster.create({ topic });
    await cluster.start('a', 'b', 'c');
  }, 120_000);
  afterAll(() => cluster.stop());

  const POLL = { timeout: 20_000 };

  const say = (...words: string[]) => admin!.call(cluster.url('a'), ...words);

  async function says(...words: string[]): Promise<string> {
    const { exitCode, out, error } = await say(...words);
    expect({ exitCode, error }).toEqual({ exitCode: 0, error: '' });
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
    const place = { tenant: 'acme', namespace: 'orders' };
    await says('resourcegroups', 'create', 'stop', '-mp', '0');
    expect(await says('namespaces', 'set-resource-group', 'acme/orders', '-rgn', 'stop')).toBe('');
    expect(await says('namespaces', 'get-resource-group', 'acme/orders')).toBe('stop');
    for (const id of ['b', 'c']) await expect.poll(() => acquire(id, place), POLL).toBe(429);
    const inUse = await say('resourcegroups', 'delete', 'stop');
    expect(inUse.exitCode).toBe(1);
    expect(inUse.error).toContain('Reason: group stop is in use: acme/orders is attached to it');
    expect(await says('namespaces', 'remove-resource-group', 'acme/orders')).toBe('');
    for (const id of ['b', 'c']) await expect.poll(() => acquire(id, place), POLL).toBe(404);
    expect(await says('resourcegroups', 'delete', 'stop')).toBe('');
  });

  it.each([
    [['resourcegroups', 'get', 'missing'], 'ResourceGroup does not exist'],
    [['namespaces', 'set-resource-group', 'acme/orders', '-rgn', 'missing'], 'ResourceGroup does not exist'],
    [['resourcegroups', 'create', 'a b', '-mp', '1'], 'name of 1 to 200'],
    [['resourcegroups', 'create', '..', '-mp', '1'], 'no such route'],
    [['resourcegroups', 'create', '', '-mp', '1'], 'does not take PUT'],
  ])('%j fails with a reason, and does no harm', { timeout: 120_000 }, async (words, reason) => {
    const { exitCode, error } = await say(...words);
    expect(exitCode).toBe(1);
    expect(error).toContain(reason);
    const groups = await fetch(`${cluster.url('b')}/admin/v2/resourcegroups`);
    expect(await groups.json()).toEqual(['orders']);
  });
});
