import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Batch } from '../../../src/node/api/decision.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

const GROUP = { quota: { publish: { messagesPerSecond: 1 } }, limiter: 'window', windowMs: 3_600_000 };

let scene: HttpScene;
beforeAll(async () => {
  scene = await readyScene({ groups: { a: GROUP } });
  scene.node.serve(0);
  scene.node.limiter.tokens.set(0, 100);
});
afterAll(() => scene.close());

async function exported(): Promise<Record<string, number>> {
  const text = await scene.metrics.text();
  const lines = text.matchAll(/^quotamesh_(batches\w*|refunds\w*)(?:\{.*outcome="([^"]+)".*\}|\{.*\})? (\S+)$/gm);
  return Object.fromEntries([...lines].map(([, name, outcome, value]) => [outcome ?? name, Number(value)]));
}

test('batches by how they ended, and refunds that were refused', async () => {
  expect(await exported()).toEqual({
    batches: 0,
    batches_granted_total: 0,
    refunded: 0,
    expired: 0,
    refunds_refused_total: 0,
  });
  const take = async () => (await scene.node.takeBatch('a', { messages: 10 })) as Batch;
  const [back, , late] = [await take(), await take(), await take()];
  back.refund({ messages: 10 });
  expect(() => back.refund({})).toThrow(/refunded already/);
  // Another window: what is left of it has been used, and the batch has ended.
  scene.node.inForce.define({ ...scene.node.groups.at(0), windowMs: 60_000 });
  expect(() => late.refund({})).toThrow(/another limiter or window/);
  expect(await exported()).toMatchObject({
    batches: 1,
    refunded: 1,
    expired: 1,
    refunds_refused_total: 2,
  });
  scene.node.gate.batches.expire(Infinity);
  expect(await exported()).toEqual({
    batches: 0,
    batches_granted_total: 3,
    refunded: 1,
    expired: 2,
    refunds_refused_total: 2,
  });
});
