import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { RowStore } from '../../../src/core/usage-map/row-store.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

const quota = { publish: { messagesPerSecond: 1000 } };
const GROUPS = {
  each: { quota, sharing: 'rates', perTopic: { publish: { messagesPerSecond: 100 } } },
  even: { quota, topics: 'even' },
  shared: { quota, sharing: 'rates' },
};

let scene: HttpScene | null = null;
afterEach(() => scene?.close());

/** PIP-82: a report says how many topics of a group a broker serves. */
test('reports tell how many topics a node keeps apart, and the group shows it', async () => {
  scene = await readyScene({ groups: GROUPS });
  const { node, get } = scene;
  for (let turn = 0; turn < 40; turn++) {
    for (const group of Object.keys(GROUPS)) {
      for (const topic of ['x', 'y', 'z']) node.tryAcquire(group, { messages: 1 }, { topic });
    }
    await sleep(25);
  }
  const told: Record<string, unknown> = {};
  for (const group of Object.keys(GROUPS)) {
    const { body } = await get(`/v1/groups/${group}`);
    const { publish } = body.directions as { publish: { nodes: { topics: number; reportAgeMs: number | null }[] } };
    expect(publish.nodes[0]?.reportAgeMs, group).not.toBeNull();
    told[group] = publish.nodes[0]?.topics;
  }
  expect(told).toEqual({ each: 3, even: 3, shared: 0 });
});

test('a row keeps topics and whether a charge is told apart from each other, up to what the wire carries', () => {
  const rates = { usageMessages: 1, usageBytes: 0, demandMessages: 1, demandBytes: 0, shareMessages: 0, shareBytes: 0 };
  const rows = new RowStore();
  const row = rows.add(0, 0, { ...rates, topics: 5 });
  expect([rows.topicsOf(row), rows.tellsCharge(row)]).toEqual([5, false]);
  rows.write(row, { ...rates, topics: 6, charge: [0, 0] });
  expect([rows.topicsOf(row), rows.tellsCharge(row)]).toEqual([6, true]);
  rows.write(row, { ...rates, topics: 2 ** 32 - 1, charge: [0, 0] });
  expect([rows.topicsOf(row), rows.tellsCharge(row)]).toEqual([2 ** 30 - 1, true]);
});
