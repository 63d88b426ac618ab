import { expect, test } from 'vitest';
import { describeKey } from '../../../src/status/describe-key.js';
import { describeGroup } from '../../../src/status/describe-node.js';
import type { WholeNode } from '../../whole-node.js';
import { PER_SECOND, withKeys } from '../keys/keys-cluster.js';

const ONE = { messages: 1 };
const TICK_MS = 10;
/** The slow span is filled, and a lane has had its turn in a heartbeat. */
const SHOWN_AFTER_MS = 12_000;

/**
 * A node reports the first moments of its work, and afterwards all goes as others expect: nobody reports anything for
 * five minutes. By the reports alone, `orders` was shown with a usage of 0 and with four times its demand.
 */
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

function shownOf(node: WholeNode, name: string) {
  const number = node.groups.numbers.get(name);
  const group = number === undefined ? describeKey(node, name)?.group : describeGroup(node, number);
  const shown = group?.directions.publish.nodes ?? [];
  expect(shown).toHaveLength(3);
  return shown;
}
