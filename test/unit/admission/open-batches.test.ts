import { afterEach, expect, test, vi } from 'vitest';
import { laneOf, MESSAGES, slotOf } from '../../../src/core/base/vocabulary.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

let scene: HttpScene;
afterEach(() => scene.close());

test('whoever waits for a batch has a place among those that may be open', async () => {
  const scarce = { quota: { publish: { messagesPerSecond: 0.001 } }, maxRequest: { messages: 100 } };
  scene = await readyScene({ groups: { scarce, rich: {} }, limits: { maxReservations: 2 } });
  const { node } = scene;
  node.tryAcquire('scarce', { messages: 1 });
  node.limiter.tokens.set(slotOf(laneOf(node.gate.groupIndex('scarce'), 0), MESSAGES), 0);
  const stop = new AbortController();
  const waiting = node.gate.batches.take('scarce', { messages: 1 }, { waitMs: 60_000, signal: stop.signal });
  waiting.catch(() => undefined);
  await vi.waitFor(() => expect(node.gate.waiting.count).toBe(1), 10_000);
  expect(node.gate.batches.tryTake('rich', { messages: 1 }).granted).toBe(true);
  expect(() => node.gate.batches.tryTake('rich', { messages: 1 })).toThrow(
    expect.objectContaining({ code: 'BATCHES_FULL' }),
  );
  stop.abort();
  await expect(waiting).rejects.toThrow();
  expect(node.gate.batches.tryTake('rich', { messages: 1 }).granted).toBe(true);
});

test('a batch of several groups lasts until the first of their windows ends', async () => {
  const window = (windowMs: number) => ({
    limiter: 'window',
    windowMs,
    quota: { publish: { messagesPerSecond: 1e6 } },
  });
  const places = { acme: 'long', 'acme/orders': { group: 'short', andBroader: true } };
  const turned = { acme: 'short', 'acme/orders': { group: 'long', andBroader: true } };
  for (const attached of [places, turned]) {
    scene = await readyScene({
      groups: { long: window(10_000), short: window(250) },
      attachments: { scopes: attached },
    });
    const { node } = scene;
    const where = { tenant: 'acme', namespace: 'orders' };
    const taken = () => node.gate.batches.tryTake(where, { messages: 1 });
    await vi.waitFor(() => expect(taken().granted).toBe(true), 10_000);
    for (let at = 0; at < 5; at++) {
      const batch = taken();
      if (batch.granted) expect(batch.validMs).toBeLessThanOrEqual(250);
    }
    await scene.close();
  }
});

test.each(['0$', '$.0', '$e0', '0x$', '+$', ' $', '$ ', '$-1', '00$', '', '9999999999999999999'])(
  'the id of a batch is known as it was given, and by no other writing of its number: %s',
  async (writing) => {
    scene = await readyScene();
    const { node } = scene;
    const batch = node.gate.batches.tryTake('free', { messages: 10 });
    if (!batch.granted) throw new Error('nothing was granted');
    const [prefix, digits] = batch.id.split('-') as [string, string];
    const refund = (id: string) => node.gate.batches.refund(id, { messages: 1 });
    const refused = expect.objectContaining({ code: 'BATCH_UNKNOWN' });
    expect(() => refund(`${prefix}-${writing.replace('$', digits)}`)).toThrow(refused);
    expect(() => refund(batch.id)).not.toThrow();
  },
);
