import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BYTES, MESSAGES } from '../../../src/core/base/vocabulary.js';
import { Limiter } from '../../../src/core/limiter/limiter.js';
import { FAST, LaneSample } from '../../../src/core/report/sample/lane-sample.js';
import type { Reservation } from '../../../src/node/api/decision.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

const MOST = Number.MAX_SAFE_INTEGER;
let scene: HttpScene;
const request = { group: 'a', messages: 5, reserve: true };

beforeEach(async () => {
  const groups = { a: { quota: { publish: { messagesPerSecond: 1000 } }, maxRequest: { messages: 50 } }, free: {} };
  scene = await readyScene({ groups });
});
afterEach(() => scene.close());

async function post(url: string, payload: object) {
  const answer = await scene.app.inject({ method: 'POST', url, payload });
  return { status: answer.statusCode, body: answer.json() as { id: string; code: string } };
}

describe('a commit above maxRequest', () => {
  test('is refused by name, charges nothing, and leaves the reservation open', () => {
    const { node } = scene;
    const reserved = node.reserve('a', { messages: 5 }) as Reservation;
    const tooMuch = {
      code: 'COMMIT_ABOVE_MAX_REQUEST',
      message: expect.stringMatching(/ = \d+ is more than 50, .* for group a;/),
    };
    for (const messages of [51, MOST])
      expect(() => reserved.commit({ messages })).toThrow(expect.objectContaining(tooMuch));
    expect(() => reserved.commit({ messages: 5, bytes: MOST })).toThrow(
      expect.objectContaining({ code: tooMuch.code }),
    );
    expect(node.limiter.admitted.at(MESSAGES)).toBe(0);
    reserved.commit({ messages: 50 });
    expect([node.limiter.admitted.at(MESSAGES), node.limiter.admitted.at(BYTES)]).toEqual([50, 0]);
  });

  test('as much as was estimated can always be committed, whatever maxRequest is by then', () => {
    const { node } = scene;
    const reserved = node.reserve('a', { messages: 50 }) as Reservation;
    node.groups.define({ ...node.groups.at(0), maxRequest: { messages: 1, bytes: null } });
    node.gate.groupChanged(0);
    expect(() => reserved.commit({ messages: 51 })).toThrow(/50/);
    reserved.commit({});
    expect(node.limiter.admitted.at(MESSAGES)).toBe(50);
  });

  test('over HTTP: 422, also in a bulk, and the node goes on', async () => {
    const { body } = await post('/v1/acquire', request);
    const poison = { id: body.id, messages: MOST };
    expect(await post('/v1/commit', poison)).toMatchObject({ status: 422, body: { code: 'COMMIT_ABOVE_MAX_REQUEST' } });
    const { body: bulk } = await post('/v1/commit/bulk', { commits: [poison, { id: body.id, messages: 7 }] });
    expect(bulk).toMatchObject({ answers: [{ status: 422 }, { status: 200, ended: 'committed' }] });
    expect(await post('/v1/acquire', { group: 'a', messages: 1 })).toMatchObject({ status: 200 });
    expect(scene.node.limiter.admitted.at(MESSAGES)).toBe(8);
  });
});

test.each([
  ['an acquire', '/v1/acquire', { group: 'a', messages: MOST }, 'AMOUNT_ABOVE_MAX_REQUEST'],
  [
    'one that is immediate',
    '/v1/acquire',
    { group: 'a', messages: MOST, priority: 'immediate' },
    'AMOUNT_ABOVE_MAX_REQUEST',
  ],
  ['one without a quota', '/v1/acquire', { group: 'free', bytes: MOST }, 'AMOUNT_ABOVE_MAX_REQUEST'],
  ['a batch', '/v1/take', { group: 'a', messages: MOST }, 'AMOUNT_ABOVE_MAX_REQUEST'],
  ['a cost', '/v1/costs', { group: 'a', costs: [{ units: MOST }] }, 'COST_INVALID'],
  ['pieces of work', '/v1/costs', { group: 'a', messages: MOST, costs: [{ units: 1 }] }, 'COST_INVALID'],
  ['a sampled cost', '/v1/costs', { group: 'a', sampled: 1e-300, costs: [{ units: 1 }] }, 'COST_INVALID'],
])('2^53 − 1 is refused at every door: %s', async (_, url, payload, code) => {
  expect((await post(url, payload)).body).toMatchObject({ code });
  expect([scene.node.limiter.attempted.at(MESSAGES), scene.node.coordinator!.costs.laneCount]).toEqual([0, 0]);
});

test('work that is done is charged at most 2^40 at once', () => {
  const { node } = scene;
  const tooMuch = { code: 'AMOUNT_INVALID', message: expect.stringContaining('2^40') };
  for (const amounts of [{ messages: 2 ** 40 + 1 }, { bytes: MOST }]) {
    expect(() => node.consume('a', amounts)).toThrow(expect.objectContaining(tooMuch));
  }
  node.consume('a', { messages: 2 ** 40 });
  expect(node.limiter.admitted.at(MESSAGES)).toBe(2 ** 40);
});

describe('sums of amounts', () => {
  test.each([
    ['admitted', (limiter: Limiter) => limiter.consume(0, 2 ** 52, 0, 1, 0)],
    ['admitted bytes', (limiter: Limiter) => limiter.consume(0, 1, 2 ** 52, 1, 0)],
    ['squares of bytes', (limiter: Limiter) => limiter.consume(0, 1, 2 ** 40, 1, 0)],
    ['squares of messages', (limiter: Limiter) => limiter.consume(0, 2 ** 40, 0, 1, 0)],
    ['refused', (limiter: Limiter) => limiter.countRefused(0, 2 ** 52, 1, false)],
    ['corrections', (limiter: Limiter) => limiter.countArrival(0, 2 ** 52, 1)],
  ])('begin anew before they lose a unit, and the sample with them: %s', (_, poison) => {
    const limiter = new Limiter(2);
    const sample = new LaneSample(50, 5000, 50);
    let nowMs = 0;
    const round = () => {
      nowMs += 50;
      limiter.consume(0, 3, 30, 1, nowMs);
      for (const lane of [0, 1]) limiter.keepExact(lane);
      sample.take(limiter, 0, nowMs);
    };
    sample.begin(limiter, 0, 0);
    limiter.consume(1, 1, 1, 1, 0);
    for (let at = 0; at < 5; at++) round();
    expect(limiter.admitted.at(MESSAGES)).toBe(15);
    poison(limiter);
    for (let at = 0; at < 200; at++) round();
    expect(limiter.admitted.at(MESSAGES)).toBeLessThan(1000);
    const [now, begin] = [sample.now, sample.beginOf(FAST)];
    for (const dimension of [MESSAGES, BYTES]) {
      const each = dimension === MESSAGES ? 3 : 30;
      expect(now.admitted(dimension) - begin.admitted(dimension)).toBe(each);
      expect(now.attempted(dimension) - begin.attempted(dimension)).toBe(each);
    }
    expect(now.squares(BYTES) - begin.squares(BYTES)).toBe(900);
    expect(now.squares(MESSAGES) - begin.squares(MESSAGES)).toBe(9);
    // The other lane is as it was.
    expect(limiter.admitted.at(2 * 1)).toBe(1);
  });
});
