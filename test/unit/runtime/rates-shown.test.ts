import { expect, test } from 'vitest';
import { describeKey } from '../../../src/node/status/describe-key.js';
import { describeGroup } from '../../../src/node/status/describe-node.js';
import type { WholeNode } from '../../whole-node.js';
import { PER_SECOND, withKeys } from '../keys/keys-cluster.js';

const ONE = { messages: 1 };
const TICK_MS = 20;
/** The slow span is filled, and the first rates of a record have waited for each other. */
const SHOWN_AFTER_MS = 12_000;

/** A node reports the first moments of its work, and afterwards all goes as others expect. */
test.each([
  { names: ['orders', 'key:acme'], wantedPerSecond: 60, usedPerSecond: 33.3 },
  // A key that is asked for less than its quota is silent.
  { names: ['orders'], wantedPerSecond: 20, usedPerSecond: 20 },
])('three nodes that begin under $wantedPerSecond/s each are shown as they are by any of them', async (rates) => {
  const { names, wantedPerSecond, usedPerSecond } = rates;
  const groups = { orders: PER_SECOND(100) };
  await withKeys(
    3,
    { 'key:{id}': PER_SECOND(100) },
    async ({ nodes, time }) => {
      let due = 0;
      const workFor = async (ms: number) => {
        for (let passed = 0; passed < ms; passed += TICK_MS) {
          for (due += (wantedPerSecond * TICK_MS) / 1000; due >= 1; due--) {
            for (const node of nodes) for (const name of names) node.tryAcquire(name, ONE);
          }
          await time.advance(TICK_MS);
        }
      };
      // Four at once, as from a client that has waited for the node.
      for (const node of nodes) for (const name of names) for (let at = 0; at < 4; at++) node.tryAcquire(name, ONE);
      await time.advance(1);
      await workFor(SHOWN_AFTER_MS);
      for (let second = 0; second < 20; second++) {
        await workFor(1000);
        for (const node of nodes) {
          for (const { usage, demand } of names.flatMap((name) => shownOf(node, name))) {
            expect(usage.messagesPerSecond).toBeGreaterThan(0.75 * usedPerSecond);
            expect(usage.messagesPerSecond).toBeLessThan(1.25 * usedPerSecond);
            expect(demand.messagesPerSecond).toBeGreaterThan(0.75 * wantedPerSecond);
            expect(demand.messagesPerSecond).toBeLessThan(1.25 * wantedPerSecond);
          }
        }
      }
    },
    undefined,
    { groups },
  );
});

test('a hundred groups far below their quotas are in the log within 30 s, many of them in a record', async () => {
  const names = Array.from({ length: 100 }, (_, at) => `group-${at}`);
  const groups = Object.fromEntries(names.map((name) => [name, PER_SECOND(100)]));
  await withKeys(
    2,
    {},
    async ({ nodes, time, appended }) => {
      const [asked, other] = nodes as [WholeNode, WholeNode];
      const before = appended.reports;
      for (let passedMs = 0; passedMs < 30_000; passedMs += 200) {
        for (const name of names) asked.tryAcquire(name, ONE);
        await time.advance(200);
      }
      expect(appended.reports - before).toBeLessThan(names.length);
      for (const name of names) {
        const usage = shownOf(other, name).map(({ usage }) => usage.messagesPerSecond ?? 0);
        expect(Math.max(...usage), name).toBeGreaterThan(4);
        expect(Math.max(...usage), name).toBeLessThan(6);
      }
    },
    undefined,
    { groups },
  );
});

function shownOf(node: WholeNode, name: string) {
  const number = node.groups.numbers.get(name);
  const group = number === undefined ? describeKey(node, name)?.group : describeGroup(node, number);
  const shown = group?.directions.publish.nodes ?? [];
  expect(shown).toHaveLength(node.coordinator?.membership.alive.length ?? 0);
  return shown;
}
