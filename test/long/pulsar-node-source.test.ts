import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { PulsarAdmin } from '../pulsar/admin-client.js';
import { FollowedCluster } from '../pulsar/broker/followed-cluster.js';
import { PULSAR_START_TIMEOUT_MS } from '../pulsar/broker/pulsar-cluster.js';
import { PulsarLoad } from '../pulsar/broker/pulsar-load.js';

/** Messages per second: what the node says, and what Pulsar says that nobody asks for. */
const QUOTA = 300;
const RAISED = 600;
const PULSARS = 5000;
const SETTLE_MS = 6000;
const SERIES = [
  'node_answers_total',
  'node_failures_total',
  'node_silent_seconds',
  'brokers_alive',
  'quiet',
  'round_seconds',
  ...['limiter_writes_total', 'limiter_overwritten_total'].map((name) => `${name}{group}`),
  ...['alone', 'held_back', 'admitted_messages_total', 'admitted_bytes_total'].map((name) => `${name}{group,publish}`),
  ...['share_messages_per_second', 'share_bytes_per_second'].map((name) => `${name}{group,publish}`),
];
let cluster: FollowedCluster;

/** A hook that is registered within another one is never called. */
const ends: (() => void | Promise<void>)[] = [];

beforeAll(async () => {
  cluster = await FollowedCluster.start((end) => ends.unshift(end), { quotameshGroups: 'node' });
}, PULSAR_START_TIMEOUT_MS);
afterAll(async () => {
  for (const end of ends) await end();
});

test('with quotameshGroups=node the quota is what pulsar-admin tells the node, and not what Pulsar has', async () => {
  const topics = await cluster.group('orders', { publishRateInMsgs: PULSARS });
  const admin = await PulsarAdmin.fetch();
  const node = (await cluster.nodeUrl(1, '')).replace(/\/$/, '');
  const tell = async (command: string, rate: number) => {
    const { exitCode, error } = await admin.call(
      node,
      'resourcegroups',
      command,
      'orders',
      '--msg-publish-rate',
      String(rate),
    );
    expect(exitCode, error).toBe(0);
  };
  await tell('create', QUOTA);
  const load = await PulsarLoad.start({ url: cluster.pulsar.brokers[0].serviceUrl, topics });
  onTestFinished(() => load.stop());
  load.want(1000, 1000);
  const total = async () => (await load.ratesOver(5)).reduce((sum, rate) => sum + rate, 0);
  await sleep(SETTLE_MS);
  const first = await total();
  await tell('update', RAISED);
  await sleep(SETTLE_MS);
  const raised = await total();
  console.log(`the node says ${QUOTA}/s: ${first}/s; then ${RAISED}/s: ${raised}/s`);
  expect(first / QUOTA).toBeLessThanOrEqual(1.03);
  expect(first / QUOTA).toBeGreaterThanOrEqual(0.95);
  expect(raised / RAISED).toBeLessThanOrEqual(1.03);
  expect(raised / RAISED).toBeGreaterThanOrEqual(0.95);
  expect(
    (await cluster.pulsar.admin('GET', 'resourcegroups/orders').then((answer) => answer.json())) as object,
  ).toMatchObject({ publishRateInMsgs: PULSARS });
});

test('the broker shows what the plugin does on its own page of metrics', async () => {
  for (const broker of cluster.pulsar.brokers) {
    const lines = await broker.metrics('pulsar_quotamesh_');
    for (const series of SERIES) {
      const name = series
        .replace('{group}', '{resource_group="orders"}')
        .replace('{group,publish}', '{resource_group="orders",direction="publish"}');
      expect(lines.get(`pulsar_quotamesh_${name}`), series).toBeGreaterThanOrEqual(0);
    }
    expect(lines.get('pulsar_quotamesh_brokers_alive')).toBe(2);
    expect(lines.get('pulsar_quotamesh_node_silent_seconds')).toBeLessThan(2);
  }
});
