import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { examineGroup } from '../../../src/config/read/group-definition.js';
import { MESSAGES } from '../../../src/core/base/vocabulary.js';
import type { Batch, BatchAmounts, TakeOptions } from '../../../src/node/api/decision.js';
import type { WholeNode } from '../../whole-node.js';
import { type HttpScene, httpScene, readyScene } from '../http/http-scene.js';

let scene: HttpScene;
afterEach(() => scene.close());

/** Windows of a minute hold 60 · perSecond; the test begins in the middle of none. */
async function windowed(perSecond: number, others: Readonly<Record<string, unknown>> = {}): Promise<WholeNode> {
  const group = { quota: { publish: { messagesPerSecond: perSecond } }, limiter: 'window', ...others };
  scene = await readyScene({ groups: { a: { windowMs: 3_600_000, ...group } } });
  scene.node.serve(0);
  // As at the beginning of a window: the node has served the lane from somewhere in the middle on.
  scene.node.limiter.tokens.set(0, 100);
  return scene.node;
}

async function take(node: WholeNode, amounts: BatchAmounts, options?: TakeOptions): Promise<Batch> {
  const answer = await node.takeBatch('a', amounts, options);
  if (!answer.granted) throw new Error(`refused: ${JSON.stringify(answer)}`);
  return answer;
}

const left = (node: WholeNode) => Math.floor(node.limiter.available(0, MESSAGES, node.clock()));
const code = (code: string) => expect.objectContaining({ code });

describe('a batch', () => {
  test('is as many as there are, and exactly what was not used goes back', async () => {
    const node = await windowed(0.05);
    const batch = await take(node, { messages: 30 });
    expect(batch).toMatchObject({ messages: 30, bytes: 0, epoch: expect.any(Number) });
    expect(left(node)).toBe(70);
    batch.refund({ messages: 20 });
    expect(left(node)).toBe(90);
    expect([node.limiter.admitted.at(0), node.limiter.attempted.at(0)]).toEqual([10, 10]);
  });

  test('all: everything there is, whole; then there is nothing, and a node says when', async () => {
    const node = await windowed(0.05);
    node.limiter.tokens.set(0, 99.7);
    expect((await take(node, 'all')).messages).toBe(99);
    const refused = await node.takeBatch('a', 'all');
    expect(refused).toMatchObject({ granted: false, level: 'group', dimension: 'messages' });
  });

  test('above the share: a part at once, never a stall; what is missing is demand', async () => {
    const node = await windowed(0.05, { maxRequest: { messages: 100_000 } });
    const batch = await take(node, { messages: 100_000 });
    expect(batch.messages).toBe(100);
    expect(node.limiter.attempted.at(0)).toBe(99_900);
    batch.refund({});
    expect([node.limiter.attempted.at(0), node.limiter.admitted.at(0)]).toEqual([100_000, 100]);
  });

  test('whole, above a window: BATCH_ABOVE_WINDOW, at once and for those who would wait; above maxRequest as ever', async () => {
    const node = await windowed(0.05, { maxRequest: { messages: 100_000 } });
    const tooMuch = { messages: 99_999 };
    expect(() => node.tryAcquire('a', tooMuch)).toThrow(code('BATCH_ABOVE_WINDOW'));
    await expect(node.acquire('a', tooMuch, { waitMs: 5000 })).rejects.toThrow(code('BATCH_ABOVE_WINDOW'));
    expect(() => node.reserve('a', tooMuch)).toThrow(code('BATCH_ABOVE_WINDOW'));
    expect(node.tryAcquire('a', tooMuch, { atMost: true })).toMatchObject({ granted: true, messages: 100 });
    expect(node.tryAcquire('a', tooMuch, { atMost: true })).toMatchObject({ granted: false, reason: 'quota' });
    await expect(take(node, { messages: 100_001 })).rejects.toThrow(code('AMOUNT_ABOVE_MAX_REQUEST'));
  });

  test.each([
    ['refunded', 85],
    ['counted', 75],
  ] as const)('dropped work: %s', async (dropped, expected) => {
    const node = await windowed(0.05, { dropped });
    (await take(node, { messages: 30 })).refund({ messages: 5, dropped: { messages: 10 } });
    expect(left(node)).toBe(expected);
    expect(node.limiter.admitted.at(0)).toBe(100 - expected);
  });

  test('of a bucket: no epoch; handed back as far as the bucket has room', async () => {
    scene = await readyScene({ groups: { a: { quota: { publish: { messagesPerSecond: 100 } }, topics: 'even' } } });
    const { node } = scene;
    node.serve(0);
    node.limiter.buckets.fill(0, node.clock());
    const batch = await take(node, 'all');
    expect(batch).toMatchObject({ epoch: null, validMs: node.config.limits.reservationMs });
    batch.refund({ messages: batch.messages });
    expect(node.limiter.tokens.at(0)).toBeLessThanOrEqual(node.limiter.buckets.depth.at(0));
    expect(left(node)).toBe(batch.messages);
  });
});

describe('nothing is minted by what is handed in', () => {
  test.each([
    [undefined, 'FIELD_INVALID', 'refund must be an object like { messages: 20 }, got nothing'],
    [null, 'FIELD_INVALID', 'refund must be'],
    [5, 'FIELD_INVALID', 'refund must be'],
    [[5], 'FIELD_INVALID', 'refund must be'],
    [{ message: 5 }, 'FIELD_UNKNOWN', 'field message is not known; did you mean messages?'],
    [{ dropped: null }, 'FIELD_INVALID', 'dropped must be an object like { messages: 20 }, got null'],
    [{ dropped: { msgs: 1 } }, 'FIELD_UNKNOWN', 'field dropped.msgs is not known; known are messages, bytes'],
    [{ dropped: { messages: -1 } }, 'AMOUNT_INVALID', 'dropped.messages must be a finite number ≥ 0, got -1'],
    [{ messages: '5' }, 'AMOUNT_INVALID', 'messages must be a finite number ≥ 0, got "5"'],
  ])('what is no hand-back is named, and the batch stays open: %j', async (given, expected, message) => {
    const node = await windowed(0.05);
    const batch = await take(node, { messages: 30 });
    const refund = () => batch.refund(given as never);
    expect(refund).toThrow(code(expected));
    expect(refund).toThrow(message);
    batch.refund({ messages: 30 });
    expect([left(node), node.gate.batches.counts.refundsRefused]).toEqual([100, 2]);
  });
});

describe('waiting for a batch', () => {
  test('until the next window, for what there is then', async () => {
    const node = await windowed(1000, { windowMs: 200 });
    node.limiter.tokens.set(0, 0);
    const batch = await take(node, { messages: 500 }, { waitMs: 2000 });
    expect(batch.messages).toBe(200);
  });

  test('a share that grows meanwhile wakes it, whatever it was told to wait', async () => {
    // 0.0072 per window of an hour: the one with a message is days away.
    const node = await windowed(0.000_002, { maxRequest: { messages: 100 } });
    node.limiter.tokens.set(0, 0);
    const waiting = take(node, { messages: 50 }, { waitMs: 60_000 });
    await sleep(20);
    node.inForce.define(examineGroup('a', { quota: { publish: { messagesPerSecond: 1000 } } }, '(test)').config!);
    expect((await waiting).messages).toBeGreaterThanOrEqual(1);
  });

  test('work is held back as long as it waits, so that the share may grow at all', async () => {
    const node = await windowed(0.05);
    await take(node, 'all');
    const stop = new AbortController();
    const waiting = node.takeBatch('a', { messages: 5 }, { waitMs: 60_000, signal: stop.signal });
    await sleep(20);
    expect(node.limiter.heldBack[0]).toBe(1);
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    expect(node.limiter.heldBack[0]).toBe(0);
  });

  test('batches and single messages take turns: by what they have got, not by how often they were asked', async () => {
    const node = await windowed(200, { limiter: 'bucket', windowMs: undefined });
    const got = { batch: 0, single: 0 };
    const endMs = performance.now() + 5000;
    const loop = async (what: keyof typeof got, once: (waitMs: number) => Promise<number>) => {
      for (;;) {
        const leftMs = endMs - performance.now();
        if (leftMs <= 0) return;
        const messages = await once(leftMs);
        got[what] += messages;
      }
    };
    const batches = loop('batch', async (waitMs) => {
      const batch = await node.takeBatch('a', { messages: 20 }, { waitMs, client: 'batch' });
      return batch.granted ? batch.messages : 0;
    });
    const singles = Array.from({ length: 30 }, () =>
      loop('single', async (waitMs) => {
        return (await node.acquire('a', { messages: 1 }, { waitMs, client: 'single' })).granted ? 1 : 0;
      }),
    );
    await Promise.all([batches, ...singles]);
    console.log(got);
    // What the bucket held at first is included: 200.
    expect(got.batch + got.single).toBeLessThanOrEqual(200 * 6.2);
    expect(got.single).toBeGreaterThan(350);
    expect(got.batch).toBeGreaterThan(350);
  });

  test.each(['bucket', 'window'])('messages larger than all that a %s holds come one by one', async (limiter) => {
    const quota = { quota: { publish: { bytesPerSecond: 1000 } }, windowMs: limiter === 'window' ? 500 : undefined };
    scene = await readyScene({ groups: { a: { limiter, ...quota, maxRequest: { bytes: 100_000 } } } });
    // A full bucket gives all at once, and how full it is at a start depends on how long the machine took.
    scene.node.consume('a', { messages: 1, bytes: 1000 });
    const batch = await take(scene.node, { messages: 20, bytes: 40_000 }, { waitMs: 5000 });
    expect([batch.messages, batch.bytes]).toEqual([1, 2000]);
  });

  test('from before the node is ready: demand, all that was asked for and once', async () => {
    const quota = { publish: { messagesPerSecond: 0.01 } };
    scene = await httpScene({ groups: { a: { quota, burst: { start: 'empty' }, maxRequest: { messages: 100 } } } });
    const { node } = scene;
    const waiting = node.takeBatch('a', { messages: 50 }, { waitMs: 3000 });
    await node.start();
    await node.ready(10_000);
    expect(await waiting).toMatchObject({ granted: false, reason: 'quota' });
    expect(node.limiter.attempted.at(0)).toBe(50);
  });

  test('not at a node that has stopped, whatever is there', async () => {
    const node = await windowed(0.05);
    await take(node, 'all');
    node.gate.close();
    node.limiter.tokens.set(0, 1);
    const late = await node.takeBatch('a', { messages: 1 }, { waitMs: 5000 });
    expect([late, node.gate.batches.counts.open]).toMatchObject([{ granted: false, reason: 'not-ready' }, 0]);
  });

  test('until the time is up, a signal says so, or the node stops', async () => {
    const node = await windowed(0.05);
    await take(node, 'all');
    expect(await node.takeBatch('a', { messages: 5 }, { waitMs: 30 })).toMatchObject({ granted: false });
    const stop = new AbortController();
    const waiting = node.takeBatch('a', { messages: 5 }, { waitMs: 60_000, signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    const last = node.takeBatch('a', { messages: 5 }, { waitMs: 60_000 });
    await node.close();
    expect(await last).toMatchObject({ granted: false, reason: 'not-ready' });
    // Five asked for once each: to wait is not to ask again.
    expect(node.limiter.attempted.at(0)).toBe(100 + 15);
  });

  test('bad times and amounts are named', async () => {
    const node = await windowed(1);
    await expect(take(node, { messages: 1 }, { waitMs: -1 })).rejects.toThrow(code('FIELD_INVALID'));
    await expect(take(node, { messages: 0 })).rejects.toThrow(code('AMOUNT_INVALID'));
    await expect(take(node, 'most' as 'all')).rejects.toThrow(code('AMOUNT_INVALID'));
  });

  test('all of a group without quota has no end: AMOUNT_INVALID', async () => {
    scene = await readyScene({ groups: { a: {} } });
    await expect(take(scene.node, 'all')).rejects.toThrow(code('AMOUNT_INVALID'));
    expect((await take(scene.node, { messages: 5000 })).messages).toBe(5000);
  });

  test('all are messages: bytes have to be named, and where they alone are limited there is no end either', async () => {
    const bytes = { quota: { publish: { bytesPerSecond: 1000 } } };
    const both = { quota: { publish: { messagesPerSecond: 100, bytesPerSecond: 1000 } } };
    scene = await readyScene({ groups: { a: both, bytes } });
    await expect(scene.node.takeBatch('bytes', 'all')).rejects.toThrow('group bytes has no limit in messages here');
    expect((await take(scene.node, 'all', { waitMs: 1000 })).bytes).toBe(0);
  });
});
