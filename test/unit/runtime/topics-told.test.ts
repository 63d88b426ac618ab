import { expect, test } from 'vitest';
import { NOTHING_REPORTED } from '../../../src/core/base/protocol/record.js';
import { RowStore } from '../../../src/core/usage-map/row-store.js';
import { describeGroup } from '../../../src/node/status/describe-node.js';
import type { WholeNode } from '../../whole-node.js';
import { PER_SECOND, withKeys } from '../keys/keys-cluster.js';

const ONE = { messages: 1 };
const TICK_MS = 20;
/** The slow span is filled, and a lane has had its turn in a heartbeat. */
const TOLD_AFTER_MS = 12_000;
const HUGE = { publish: { messagesPerSecond: 1e6 } };
const GROUPS = {
  default: PER_SECOND(10_000),
  scarce: PER_SECOND(10),
  window: { ...PER_SECOND(1000), limiter: 'window' },
  each: { ...PER_SECOND(1000), perTopic: { publish: { messagesPerSecond: 100 } } },
  client: { ...PER_SECOND(1000), perClient: HUGE },
  even: { ...PER_SECOND(1000), topics: 'even' },
  watched: { ...PER_SECOND(1000), mode: 'shadow' },
  planned: { ...PER_SECOND(1000), shadow: PER_SECOND(10) },
  open: {},
};
const NAMES = Object.keys(GROUPS);

/** PIP-82: a report says how many topics of a group a broker serves. Each topic is used once in two seconds. */
test('every node is told how many topics of a group are in use at another, whatever limits they have', async () => {
  await withKeys(
    2,
    {},
    async ({ nodes, time }) => {
      const [asked, other] = nodes as [WholeNode, WholeNode];
      let turn = 0;
      const workFor = async (ms: number, topics: number) => {
        for (let passedMs = 0; passedMs < ms; passedMs += TICK_MS) {
          turn++;
          for (const name of NAMES) {
            asked.tryAcquire(name, ONE, { topic: `persistent://acme/orders/${turn % topics}`, client: 'c' });
            other.tryAcquire(name, ONE);
          }
          await time.advance(TICK_MS);
        }
      };
      await workFor(TOLD_AFTER_MS, 100);
      expect(toldBy(other)).toEqual(
        Object.fromEntries(NAMES.map((name) => [name, name === 'open' ? [0, 0] : [100, 0]])),
      );
      expect(toldBy(asked)).toEqual(toldBy(other));
      await workFor(20_000 + TOLD_AFTER_MS, 3);
      expect(toldBy(other).default).toEqual([3, 0]);
    },
    undefined,
    { groups: GROUPS },
  );
});

/** Topics at each node, by group. */
function toldBy(node: WholeNode): Record<string, number[]> {
  const ofGroup = (name: string) => describeGroup(node, node.groups.numbers.get(name) as number);
  return Object.fromEntries(
    NAMES.map((name) => [name, ofGroup(name).directions.publish.nodes.map(({ topics }) => topics)]),
  );
}

test('all ways to ask name a topic, of a scope in all of its groups', async () => {
  const attachments = { scopes: { acme: 'tenant', 'acme/orders': { group: 'orders', andBroader: true } } };
  const groups = { tenant: PER_SECOND(1000), orders: PER_SECOND(1000), other: PER_SECOND(1000) };
  await withKeys(
    1,
    {},
    async ({ nodes: [node], time }) => {
      const { gate, groups: table, limiter } = node;
      const countOf = (name: string) => limiter.topics.of(2 * (table.numbers.get(name) as number));
      const scope = { tenant: 'acme', namespace: 'orders', topic: 'by-scope' };
      gate.tryAcquire(scope, ONE);
      expect([countOf('tenant'), countOf('orders')]).toEqual([1, 1]);
      gate.tryAcquire('other', ONE, { topic: 'plain' });
      gate.tryAcquire('other', ONE, { topic: 'told', tell: true });
      gate.tryAcquire('other', ONE, { topic: 'part', atMost: true });
      gate.consume('other', ONE, { topic: 'consumed' });
      gate.passBy('other', ONE, { topic: 'passed' });
      const reservation = gate.reserve('other', ONE, { topic: 'reserved' });
      if ('cancel' in reservation) reservation.cancel();
      const waited = gate.acquire('other', ONE, { topic: 'waited', waitMs: 100 });
      await time.advance(1);
      await waited;
      gate.batches.take('other', { messages: 1 }, { topic: 'batch' });
      await time.advance(1);
      expect(countOf('other')).toBe(8);
    },
    undefined,
    { groups, attachments },
  );
});

test('a row keeps topics up to what a signed word holds', () => {
  const rates = { ...NOTHING_REPORTED, usageMessages: 1, demandMessages: 1 };
  const rows = new RowStore();
  const row = rows.add(0, 0, { ...rates, topics: 5 });
  expect(rows.topicsOf(row)).toBe(5);
  rows.write(row, { ...rates, topics: 2 ** 32 - 1 });
  expect(rows.topicsOf(row)).toBe(2 ** 31 - 1);
});
