import { describe, expect, test } from 'vitest';
import { BYTES, MESSAGES, slotOf } from '../../../../src/core/base/vocabulary.js';
import { Buckets } from '../../../../src/core/limiter/buckets.js';
import { Producer, PublishThrottle } from '../../../../src/core/limiter/publish-throttle.js';
import { ThrottleTracker } from '../../../../src/core/limiter/throttle-tracker.js';

/** Another row lies before the one that is throttled, and has nothing. */
const ROW = 1;

function scene(wakes: 'all' | 'expected', perSecond = 10, depth = perSecond, limited = MESSAGES) {
  const buckets = new Buckets(2);
  for (const dimension of [MESSAGES, BYTES]) {
    buckets.setLimit(ROW, dimension, dimension === limited ? perSecond : Infinity, depth, 0);
  }
  buckets.fill(ROW, 0);
  const released: Producer[] = [];
  const throttle = new PublishThrottle({
    buckets,
    row: ROW,
    reason: 'groupRate',
    debtMs: 1e9,
    wakes,
    onReleased: (producer) => void released.push(producer),
  });
  return { buckets, throttle, released };
}

const producerOf = (weight?: number) => new Producer(new ThrottleTracker(() => undefined), weight);

describe.each([
  ['messages', MESSAGES],
  ['bytes', BYTES],
] as const)('a limit in %s', (_, dimension) => {
  const amountOf = (amount: number): [messages: number, bytes: number] =>
    dimension === MESSAGES ? [amount, 0] : [1, amount];

  test.each([
    ['that leaves a token is read on', 9, true],
    ['that takes the last token waits', 10, false],
    ['that leaves a debt waits', 11, false],
  ])('a publish %s', (_, amount, isReadOn) => {
    const { throttle } = scene('expected', 10, 10, dimension);
    const producer = producerOf();
    expect(throttle.publish(producer, ...amountOf(amount), 0)).toBe(isReadOn);
    expect([throttle.waiting, producer.tracker.isThrottled]).toEqual(isReadOn ? [0, false] : [1, true]);
    expect(throttle.nextWakeMs === Infinity).toBe(isReadOn);
  });

  test.each([
    ['expected', 'as many as the bucket serves if each publishes as much again', 4, 3],
    ['expected', 'nobody more where these take the last token', 5, 2],
    ['all', 'everybody', 4, 5],
  ] as const)('with “%s” a wake releases %s', (wakes, _, amount, count) => {
    const { buckets, throttle, released } = scene(wakes, 10, 10, dimension);
    const producers = Array.from({ length: 5 }, () => producerOf());
    buckets.take(ROW, 10, 10);
    for (const producer of producers) throttle.publish(producer, ...amountOf(amount), 0);
    // Whatever was owed, the bucket is full by now: 10.
    throttle.wake(5000);
    expect(released).toEqual(producers.slice(0, count));
    expect(throttle.waiting).toBe(5 - count);
    for (const producer of producers) expect(producer.tracker.isThrottled).toBe(!released.includes(producer));
  });
});

describe('when the next wake is worth calling', () => {
  test('once something useful is back, and not before those that were woken have taken their part', () => {
    const { throttle } = scene('expected', 10);
    throttle.publish(producerOf(), 10, 0, 0);
    throttle.publish(producerOf(), 20, 0, 0);
    expect(throttle.nextWakeMs).toBe(100);
    throttle.wake(100);
    expect([throttle.waiting, throttle.nextWakeMs]).toEqual([2, 2100]);
    throttle.wake(2099);
    expect(throttle.waiting).toBe(2);
    throttle.wake(2100);
    // The one that was woken is expected to take 10, a second of the limit.
    expect([throttle.waiting, throttle.nextWakeMs]).toEqual([1, 3100]);
    throttle.wake(3100);
    expect([throttle.waiting, throttle.nextWakeMs]).toEqual([0, Infinity]);
  });

  test('never, while the limit is 0', () => {
    const { buckets, throttle } = scene('expected');
    buckets.setLimit(ROW, MESSAGES, 0, 1, 0);
    expect(throttle.publish(producerOf(), 1, 0, 0)).toBe(false);
    expect(throttle.nextWakeMs).toBe(Infinity);
    throttle.wake(1e9);
    expect([throttle.waiting, throttle.nextWakeMs]).toEqual([1, Infinity]);
  });
});

describe('a connection', () => {
  test('that becomes active while it is throttled is not read, and one that is not active is not touched', () => {
    const reads: boolean[] = [];
    const tracker = new ThrottleTracker((on) => void reads.push(on));
    tracker.setActive(false);
    tracker.mark('nodeRate', 1000);
    expect(reads).toEqual([]);
    tracker.setActive(true);
    expect(reads).toEqual([false]);
    tracker.setActive(true);
    tracker.setActive(false);
    tracker.unmark('nodeRate', 1500);
    tracker.setActive(true);
    expect(reads).toEqual([false]);
  });

  test('has been throttled for as long as it was, however often', () => {
    const tracker = new ThrottleTracker(() => undefined);
    for (const [fromMs, untilMs] of [
      [1000, 1500],
      [4000, 4250],
    ] as const) {
      tracker.mark('nodeRate', fromMs);
      tracker.mark('groupRate', fromMs + 100);
      tracker.unmark('nodeRate', fromMs + 200);
      tracker.unmark('groupRate', untilMs);
    }
    expect(tracker.throttledMs(9000)).toBe(750);
    tracker.mark('nodeRate', 9000);
    expect(tracker.throttledMs(9010)).toBe(760);
  });
});

test('who has twice the weight is released twice as often', () => {
  const { throttle, released } = scene('expected', 10);
  const [light, heavy] = [producerOf(1), producerOf(2)];
  for (let publish = 0; publish < 60; publish++) for (const each of [light, heavy]) throttle.publish(each, 5, 0, 0);
  while (released.length < 30) throttle.wake(throttle.nextWakeMs);
  const turnsOf = (producer: Producer) => released.filter((one) => one === producer).length;
  expect(Math.abs(turnsOf(heavy) - 2 * turnsOf(light))).toBeLessThanOrEqual(2);
});

describe('defects of the reference implementation', () => {
  test('#24799: a producer closed while throttled does not leave its connection paused for the next one', () => {
    const { throttle } = scene('all');
    const reads: boolean[] = [];
    const tracker = new ThrottleTracker((on) => void reads.push(on));
    const [first, second] = [new Producer(tracker), new Producer(tracker)];
    throttle.publish(first, 10, 0, 0);
    throttle.publish(first, 1, 0, 0);
    tracker.mark('nodeRate', 0);
    expect([tracker.isThrottled, throttle.waiting]).toEqual([true, 2]);
    throttle.close(first, 100);
    expect([throttle.waiting, throttle.nextWakeMs]).toEqual([0, Infinity]);
    expect(reads).toEqual([false]);
    tracker.unmark('nodeRate', 120);
    expect(reads).toEqual([false, true]);
    expect(tracker.throttledMs(500)).toBe(120);
    throttle.publish(second, 1, 0, 100);
    throttle.wake(1000);
    expect([tracker.isThrottled, throttle.waiting]).toEqual([false, 0]);
  });

  test('#25502: a producer that sleeps out a debt at the old rate is planned anew when the limit is raised', () => {
    const { buckets, throttle, released } = scene('expected', 1);
    const producer = producerOf();
    throttle.publish(producer, 100_000, 0, 0);
    expect(throttle.nextWakeMs).toBeGreaterThan(27 * 3_600_000);
    buckets.setLimit(ROW, MESSAGES, 1e6, 1e6, 1000);
    throttle.wake(1000);
    expect(throttle.nextWakeMs).toBeLessThan(1000 + 200);
    throttle.wake(throttle.nextWakeMs);
    expect(released).toEqual([producer]);
  });

  test('#23930: idle time gives no credit beyond the depth, however late the charge', () => {
    const { buckets } = scene('all');
    for (let second = 1; second <= 600; second++) buckets.refill(ROW, second * 1000);
    buckets.charge(ROW, 25, 0, 1e9, 600_000);
    expect(buckets.tokens.at(slotOf(ROW, MESSAGES))).toBe(-15);
  });

  test('no herd: as many are woken as the bucket carries, and the rest in their turn', () => {
    const { buckets, throttle, released } = scene('expected', 100, 10);
    const producers = Array.from({ length: 50 }, () => producerOf());
    buckets.take(ROW, 10, 0);
    for (const producer of producers) throttle.publish(producer, 1, 0, 0);
    const wakes: number[] = [];
    let nowMs = 0;
    while (nowMs < 20_000) {
      nowMs = throttle.nextWakeMs;
      const before = released.length;
      throttle.wake(nowMs);
      wakes.push(released.length - before);
      for (const producer of released.slice(before)) throttle.publish(producer, 1, 0, nowMs);
    }
    expect(Math.max(...wakes)).toBeLessThanOrEqual(10);
    expect(released.length / 20).toBeGreaterThan(95);
    const turns = producers.map((producer) => released.filter((one) => one === producer).length);
    expect(Math.max(...turns) - Math.min(...turns)).toBeLessThanOrEqual(2);
  });
});
