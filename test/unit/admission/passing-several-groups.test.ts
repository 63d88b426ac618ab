import { setImmediate } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { laneOf, MESSAGES, slotOf } from '../../../src/core/base/vocabulary.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

/** Nothing refills within a test, and the first request takes all there is: a test says itself what there is. */
const SCARCE = {
  quota: { publish: { messagesPerSecond: 0.001 } },
  burst: { messages: 1 },
  maxRequest: { messages: 100 },
};
const PLENTY = { quota: { publish: { messagesPerSecond: 1e6 } } };
const PLACES = { acme: 'gold', 'acme/orders': { group: 'orders', andBroader: true } };
/** Counts in orders and, because it is below acme, in gold. */
const BOTH = { tenant: 'acme', namespace: 'orders' };

let scene: HttpScene;
afterEach(() => scene.close());

/** Three of one client wait in the line of gold, and the first has had its turn: one more may pass. */
async function lineInGold() {
  scene = await readyScene({ groups: { orders: PLENTY, gold: SCARCE }, attachments: { scopes: PLACES } });
  const { node } = scene;
  const gold = slotOf(laneOf(node.gate.groupIndex('gold'), 0), MESSAGES);
  const stop = new AbortController();
  // A lane is served from its first use on, with what has accrued since the node was ready.
  node.tryAcquire(BOTH, { messages: 1 });
  node.limiter.tokens.set(gold, 0);
  const waiting = [1, 2, 3].map(() =>
    node.acquire({ tenant: 'acme' }, { messages: 1 }, { waitMs: 5000, signal: stop.signal }),
  );
  for (const each of waiting) each.catch(() => undefined);
  let hasAnswer = false;
  waiting[0].finally(() => {
    hasAnswer = true;
  });
  // A round between the two steps sets the tokens by the quota.
  while (!hasAnswer) {
    node.limiter.tokens.set(gold, 1);
    node.gate.waiting.wakeAll();
    await setImmediate();
  }
  expect(await waiting[0]).toMatchObject({ granted: true });
  node.limiter.tokens.set(gold, 0);
  return { node, gold, stop };
}

test('who passes the line of a broader group has had its turn there', async () => {
  const { node, gold, stop } = await lineInGold();
  node.limiter.tokens.set(gold, 1);
  expect(node.tryAcquire(BOTH, { messages: 1 }).granted).toBe(true);
  node.limiter.tokens.set(gold, 1);
  // A token is there, and two wait for it.
  expect(node.tryAcquire(BOTH, { messages: 1 })).toMatchObject({ granted: false, group: 'gold' });
  expect(node.limiter.tokens.at(gold)).toBeCloseTo(1, 3);
  stop.abort(new Error('over'));
});

test('who finds nothing there has had no turn, however often he asks', async () => {
  const { node, gold, stop } = await lineInGold();
  for (let asked = 0; asked < 3; asked++) expect(node.tryAcquire(BOTH, { messages: 1 }).granted).toBe(false);
  node.limiter.tokens.set(gold, 1);
  expect(node.tryAcquire(BOTH, { messages: 1 }).granted).toBe(true);
  stop.abort(new Error('over'));
});
