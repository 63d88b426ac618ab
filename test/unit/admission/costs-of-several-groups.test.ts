import { afterAll, beforeAll, expect, test } from 'vitest';
import { sumOfCosts } from '../../../src/core/target/cost-meter.js';
import type { Reservation } from '../../../src/node/api/decision.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

const QUOTA = { quota: { publish: { messagesPerSecond: 1000 } } };
const GROUPS = { orders: QUOTA, gold: QUOTA, other: QUOTA };
const PLACES = { acme: 'gold', 'acme/orders': { group: 'orders', andBroader: true } };

let scene: HttpScene;
const meter = () => scene.node.coordinator!.costs;
const laneOf = (group: string) => 2 * scene.node.gate.groupIndex(group);
function costOf(group: string): number {
  const costs = meter().costsOf(laneOf(group), scene.node.clock());
  return costs === null ? 0 : sumOfCosts(costs);
}

beforeAll(async () => {
  const constants = { costs: { maxLanes: 2 } };
  scene = await readyScene({ groups: GROUPS, attachments: { scopes: PLACES }, constants });
});
afterAll(() => scene.close());

test('costs of work that belongs to several groups count in all of them or in none, and once', () => {
  const { node } = scene;
  node.reportCost('other', { units: 1 });
  const place = { tenant: 'acme', namespace: 'orders' };
  const reserved = node.reserve(place, { messages: 1 }) as Reservation;
  const commit = () => reserved.commit({}, { units: 40 });
  // Room for one of the two.
  for (let again = 0; again < 3; again++) {
    expect(commit).toThrow(
      expect.objectContaining({ code: 'COSTS_FULL', message: expect.stringMatching(/orders, gold/) }),
    );
  }
  expect([costOf('orders'), costOf('gold'), meter().laneCount]).toEqual([0, 0, 1]);
  meter().removeSilent(Number.MAX_SAFE_INTEGER);
  commit();
  const [orders, gold] = [costOf('orders'), costOf('gold')];
  expect(orders).toBeGreaterThan(0);
  expect(orders).toBeCloseTo(gold, 0);
  // Settled: a further call counts nothing.
  commit();
  expect(costOf('orders')).toBeLessThanOrEqual(orders);
  expect(() => node.reportCost('other', { units: 1 })).toThrow(/those of other are not counted/);
});
