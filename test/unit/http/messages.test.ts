import { expect, it } from 'vitest';
import { expectGolden, linesOf } from '../../golden.js';
import { readyScene } from './http-scene.js';

/** Every message about wrong bodies and queries, word for word, each once, with a request that led to it. */
const GOLDEN = new URL('./messages.golden.jsonl', import.meta.url);

interface Told {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly payload?: object;
  readonly status: number;
  readonly code: unknown;
  readonly detail: unknown;
  readonly remedy: unknown;
}

it('messages about bodies and queries are those that were recorded', async () => {
  const keys = { 'user:{id}': { quota: { publish: { messagesPerSecond: '60/min' } } } };
  const scene = await readyScene({ cluster: `messages-${process.pid}`, keys });
  const defined = async () => (await scene.get('/v1/groups')).body;
  try {
    const recorded = linesOf(GOLDEN);
    expect(recorded.length).toBeGreaterThan(100);
    const [before, now] = [await defined(), [] as string[]];
    for (const line of recorded) {
      const { method, url, payload } = JSON.parse(line) as Told;
      const { status, body } = await scene.ask(method, url, payload);
      const { code, detail, remedy } = body;
      now.push(JSON.stringify({ method, url, payload, status, code, detail, remedy }));
    }
    expectGolden(GOLDEN, now);
    // Nothing of all that changes a group, is demand, or a defect.
    expect(await defined()).toEqual(before);
    const { attemptedMessages, attemptedBytes } = scene.node.groupStatus('orders').directions.publish.local;
    expect([attemptedMessages, attemptedBytes]).toEqual([0, 0]);
    expect(scene.log.filter(({ level }) => level === 'error')).toEqual([]);
  } finally {
    await scene.close();
  }
});
