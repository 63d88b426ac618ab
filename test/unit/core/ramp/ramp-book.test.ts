import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { LogTime } from '../../../../src/core/log/log-time.js';
import { RampBook } from '../../../../src/core/target/ramp/ramp-book.js';
import { GROUP, RAMP } from '../../../simulation/settings.js';
import { wideId } from '../../../wide-ids.js';

const RELAXED = { ...GROUP, ramp: RAMP };
const SCHEDULED = { ...GROUP, ramp: { ...RAMP, mode: 'scheduled' as const } };

function state(
  ceiling: number,
  sequence: number,
  { nodeKey = 1, incarnation = 1, lateMs = 0, readUntilMs = 0, readUntilOffset = 1000 } = {},
) {
  const author = { nodeKey, incarnation, sequence };
  return {
    kind: 'group-state',
    author,
    groupId: wideId(7),
    direction: 0,
    ceiling,
    lateMs,
    readUntilMs,
    readUntilOffset,
    timeToLiveMs: 30_000,
  } as const;
}

describe('ceilings by the log', () => {
  test('the newest record counts, within the ramp; older ones of its author do not', () => {
    const book = new RampBook(1000, () => undefined);
    expect(book.readUntil).toEqual({ readUntilMs: 0, readUntilOffset: 0 });
    expect(book.ceilingOf(RELAXED, 0, 3)).toBe(100);
    book.apply(3, state(280, 5));
    expect(book.ceilingOf(RELAXED, 0, 3)).toBe(280);
    expect(book.apply(3, state(900, 4))).toBe('repeated');
    expect(book.apply(3, state(900, 9, { nodeKey: 2 }))).toBe('applied');
    expect(book.ceilingOf({ ...RELAXED, ramp: { ...RAMP, toPerSecond: 500 } }, 0, 3)).toBe(500);
    expect(book.ceilingOf({ ...RELAXED, ramp: { ...RAMP, fromPerSecond: 950 } }, 0, 3)).toBe(950);
    expect(book.ceilingOf(GROUP, 0, 3)).toBe(Infinity);
    expect(book.ceilingOf(RELAXED, 1, 4)).toBe(Infinity);
  });

  test('scheduled goes on with log time, from where the record held', () => {
    const book = new RampBook(1000, () => undefined);
    book.advanceTo({ ms: 1000, spanMs: 1000, wholeMs: 1000, appendMs: 0 }, 1);
    book.apply(3, state(280, 5, { lateMs: 500 }));
    expect(book.ceilingOf(SCHEDULED, 0, 3)).toBe(280 + 45);
    book.advanceTo({ ms: 2500, spanMs: 2500, wholeMs: 2500, appendMs: 0 }, 2);
    expect(book.ceilingOf(SCHEDULED, 0, 3)).toBe(280 + 180);
    expect(book.isMoving(SCHEDULED, 0, 3)).toBe(true);
    // A relaxed ramp moves by records alone, and nobody uses the ramp of lane 4.
    expect([book.isMoving(RELAXED, 0, 3), book.isMoving(SCHEDULED, 0, 4)]).toEqual([false, false]);
    expect(book.isMoving(GROUP, 0, 3)).toBe(false);
    book.advanceTo({ ms: 20_000, spanMs: 20_000, wholeMs: 20_000, appendMs: 0 }, 3);
    expect(book.ceilingOf(SCHEDULED, 0, 3)).toBe(1000);
    expect(book.isMoving(SCHEDULED, 0, 3)).toBe(false);
    expect(book.ceilingOf(RELAXED, 0, 3)).toBe(280);
  });

  test('a record that took its time takes nothing from the line; a clock that jumped adds no more than two heartbeats', () => {
    const book = new RampBook(1000, () => undefined);
    book.advanceTo({ ms: 1000, spanMs: 1000, wholeMs: 1000, appendMs: 5_001_000 }, 4);
    // The writer had read up to 300 ms before, and was 100 ms late by then.
    book.apply(3, state(280, 5, { lateMs: 100, readUntilMs: 5_000_700 }));
    expect(book.ceilingOf(SCHEDULED, 0, 3)).toBe(280 + 36);
    // A newcomer, who has read no ceiling before.
    book.apply(4, state(280, 6, { readUntilMs: 1 }));
    expect(book.ceilingOf(SCHEDULED, 0, 4)).toBe(280 + 180);
    book.apply(5, state(280, 7, { readUntilMs: 6_000_000 }));
    expect(book.ceilingOf(SCHEDULED, 0, 5)).toBe(280);
    // Five seconds on the way: whoever knows the ceiling before counts them, as its writer did.
    book.advanceTo({ ms: 6000, spanMs: 6000, wholeMs: 6000, appendMs: 5_006_000 }, 1001);
    book.apply(3, state(300, 8, { readUntilMs: 5_001_000, readUntilOffset: 1001 }));
    expect(book.ceilingOf(SCHEDULED, 0, 3)).toBe(300 + 450);
  });

  test('a ceiling that was written without knowing the last one does not count, but the first one of another log does', () => {
    const book = new RampBook(1000, () => undefined);
    book.advanceTo({ ms: 0, spanMs: 0, wholeMs: 0, appendMs: 1 }, 50);
    book.apply(3, state(280, 5, { readUntilOffset: 40 }));
    book.advanceTo({ ms: 0, spanMs: 0, wholeMs: 0, appendMs: 1 }, 51);
    expect(book.apply(3, state(100, 1, { nodeKey: 2, readUntilOffset: 49 }))).toBe('outdated');
    expect(book.apply(3, state(370, 1, { nodeKey: 2, readUntilOffset: 50 }))).toBe('applied');
    book.forgetAll();
    book.advanceTo({ ms: 0, spanMs: 0, wholeMs: 0, appendMs: 1 }, 7);
    expect(book.apply(3, state(460, 2, { nodeKey: 2, readUntilOffset: 6 }))).toBe('applied');
  });

  test('such a ceiling counts all the same once the last one is older than a quarter of its time to live', () => {
    const book = new RampBook(1000, () => undefined);
    const read = (logMs: number) =>
      book.advanceTo({ ms: logMs, spanMs: logMs, wholeMs: logMs, appendMs: logMs }, 50_000 + logMs);
    read(0);
    book.apply(3, state(280, 5, { readUntilOffset: 50_000 }));
    const verdicts = [1000, 3000, 5000, 7000, 8000, 9000].map((logMs) => {
      read(logMs);
      return book.apply(3, state(280 + (90 * logMs) / 1000, logMs, { nodeKey: 2, readUntilOffset: logMs }));
    });
    expect(verdicts).toEqual([...Array(4).fill('outdated'), 'applied', 'outdated']);
    expect(book.ceilingOf(RELAXED, 0, 3)).toBe(1000);
  });

  test('forgotten after its time to live, and the lane is told', () => {
    const changed: number[] = [];
    const book = new RampBook(1000, (lane) => changed.push(lane));
    book.apply(3, state(280, 5));
    book.advanceTo({ ms: 1000, spanMs: 29_000, wholeMs: 29_000, appendMs: 0 }, 5);
    book.apply(4, state(370, 6));
    book.advanceTo({ ms: 1000, spanMs: 30_000, wholeMs: 30_000, appendMs: 0 }, 6);
    expect(book.ceilingOf(RELAXED, 0, 3)).toBe(280);
    book.advanceTo({ ms: 1001, spanMs: 30_001, wholeMs: 30_001, appendMs: 0 }, 7);
    expect([book.ceilingOf(RELAXED, 0, 3), book.ceilingOf(RELAXED, 0, 4)]).toEqual([100, 370]);
    expect(changed).toEqual([3, 4, 3]);
    book.advanceTo({ ms: 1002, spanMs: 59_001, wholeMs: 59_001, appendMs: 0 }, 8);
    expect(book.ceilingOf(RELAXED, 0, 4)).toBe(100);
  });

  test('what the log before said is carried into another one, each ceiling for as long as it lives there', () => {
    const book = new RampBook(1000, () => undefined);
    for (const [lane, timeToLiveMs] of [
      [3, 10_000],
      [4, 30_000],
      [5, 20_000],
    ] as const) {
      book.apply(lane, { ...state(280, 5), timeToLiveMs });
    }
    book.advanceTo({ ms: 2000, spanMs: 2000, wholeMs: 2000, appendMs: 0 }, 5);
    book.forgetAll();
    expect(book.ceilingOf(RELAXED, 0, 3)).toBe(100);
    expect(book.carriedOf(3, RAMP)).toMatchObject({ ceiling: 280, heldMs: 2000 });
    const carriedAt = (spanMs: number) => {
      book.advanceTo({ ms: spanMs, spanMs, wholeMs: spanMs, appendMs: 0 }, 1);
      return [3, 4, 5].filter((lane) => book.carriedOf(lane, RAMP) !== undefined);
    };
    const ends = [10_000, 10_001, 20_000, 20_001, 30_000, 30_001];
    expect(ends.map(carriedAt)).toEqual([[3, 4, 5], [4, 5], [4, 5], [4], [4], []]);
  });

  test('a ceiling of this log takes the place of the one that was carried', () => {
    const book = new RampBook(1000, () => undefined);
    book.apply(3, state(280, 5));
    book.forgetAll();
    book.apply(3, state(190, 1, { nodeKey: 2 }));
    expect([book.carriedOf(3, RAMP), book.ceilingOf(RELAXED, 0, 3)]).toEqual([undefined, 190]);
  });

  test('a ceiling carried into another log keeps the number of its lane from being given to another lane', () => {
    const book = new RampBook(1000, () => undefined);
    book.apply(3, state(280, 5));
    book.forgetAll();
    expect(book.carriedOf(3, RAMP)?.ceiling).toBe(280);
    expect(book.has(3)).toBe(true);
    book.advanceTo({ ms: 0, spanMs: 30_001, wholeMs: 30_001, appendMs: 0 }, 1);
    expect([book.carriedOf(3, RAMP), book.has(3)]).toEqual([undefined, false]);
  });

  test('200,000 ceilings are carried into another log, and a further log adds none to them', () => {
    const book = new RampBook(1000, () => undefined);
    for (let lane = 0; lane < 200_000; lane++) book.apply(lane, state(280, 5));
    expect(book.apply(200_000, state(280, 5))).toBe('too-many-levels');
    book.forgetAll();
    book.apply(200_000, state(280, 5));
    book.forgetAll();
    expect([book.carriedOf(0, RAMP)?.ceiling, book.carriedOf(199_999, RAMP)?.ceiling]).toEqual([280, 280]);
    expect(book.carriedOf(200_000, RAMP)).toBeUndefined();
    book.advanceTo({ ms: 0, spanMs: 30_001, wholeMs: 30_001, appendMs: 0 }, 1);
    expect(book.carriedOf(0, RAMP)).toBeUndefined();
  });
});

describe('a ceiling that claims a longer life than the ramp gives', () => {
  const DAY_MS = 86_400_000;
  const claiming = (timeToLiveMs: number) => ({ ...state(1e30, 5), timeToLiveMs });

  test('ends with the ramp’s own, for shares and for who writes the next one', () => {
    const book = new RampBook(1000, () => undefined);
    book.apply(3, claiming(30 * DAY_MS));
    book.advanceTo({ ms: 30_000, spanMs: 30_000, wholeMs: 30_000, appendMs: 0 }, 5);
    expect([book.ceilingOf(RELAXED, 0, 3), book.isMoving(RELAXED, 0, 3)]).toEqual([1000, true]);
    book.advanceTo({ ms: 30_001, spanMs: 30_001, wholeMs: 30_001, appendMs: 0 }, 6);
    expect([book.ceilingOf(RELAXED, 0, 3), book.isMoving(RELAXED, 0, 3)]).toEqual([100, false]);
    expect(book.get(3, RAMP)).toBeUndefined();
    expect(book.apply(3, { ...state(100, 1, { nodeKey: 2, readUntilOffset: 6 }) })).toBe('applied');
    expect(book.get(3, RAMP)).toMatchObject({ ceiling: 100, timeToLiveMs: 30_000 });
  });

  test('nor is it carried into another log for longer', () => {
    const book = new RampBook(1000, () => undefined);
    book.apply(3, claiming(30 * DAY_MS));
    book.forgetAll();
    expect(book.carriedOf(3, RAMP)?.ceiling).toBe(1e30);
    book.advanceTo({ ms: 30_001, spanMs: 30_001, wholeMs: 30_001, appendMs: 0 }, 5);
    expect(book.carriedOf(3, RAMP)).toBeUndefined();
  });
});

describe('another log', () => {
  const LONG = { ...RAMP, timeToLiveMs: 120_000 };
  const read = (book: RampBook, logMs: number) => {
    book.advanceTo({ ms: logMs, spanMs: logMs, wholeMs: logMs, appendMs: 0 }, 1 + logMs);
  };
  /** Lanes 3 and 4 stand at 280 and 370, for 4 s and 1 s, when it begins; the first lives for 30 s, the other for 60. */
  function bookIn(): RampBook {
    const book = new RampBook(1000, () => undefined);
    read(book, 1000);
    book.apply(3, state(280, 5));
    read(book, 4000);
    book.apply(4, { ...state(370, 6), timeToLiveMs: 60_000 });
    read(book, 5000);
    book.forgetAll();
    return book;
  }

  test('knows no ceiling and no place any more, but how far every ramp was', () => {
    const book = bookIn();
    expect([book.get(3, LONG), book.get(4, LONG), book.logMs]).toEqual([undefined, undefined, 0]);
    expect(book.readUntil).toEqual({ readUntilMs: 0, readUntilOffset: 0 });
    expect(book.newestLifeOf(1)).toBe(0);
    expect(book.carriedOf(3, LONG)).toMatchObject({ ceiling: 280, heldMs: 4000 });
    expect(book.carriedOf(4, LONG)).toMatchObject({ ceiling: 370, heldMs: 1000 });
    expect(book.carriedOf(5, LONG)).toBeUndefined();
  });

  test('that says a ceiling itself is believed, and what was carried is not needed any more', () => {
    const book = bookIn();
    book.apply(3, state(200, 1, { readUntilOffset: 0 }));
    expect([book.ceilingOf(RELAXED, 0, 3), book.carriedOf(3, LONG), book.carriedOf(4, LONG)?.ceiling]).toEqual([
      200,
      undefined,
      370,
    ]);
  });

  test.each([
    ['as old as the first ceiling may become', 30_000, [280, 370]],
    ['older than that', 30_001, [undefined, 370]],
    ['as old as the second one may', 60_000, [undefined, 370]],
    ['older than both', 60_001, [undefined, undefined]],
  ])('%s: what nobody has gone on with is forgotten', (_, logMs, ceilings) => {
    const book = bookIn();
    for (let atMs = 0; atMs < logMs; atMs += 10_000) read(book, atMs);
    read(book, logMs);
    expect([3, 4].map((lane) => book.carriedOf(lane, LONG)?.ceiling)).toEqual(ceilings);
  });

  test('and another one after it: what was carried into the first is carried on', () => {
    const book = bookIn();
    book.apply(3, state(200, 1, { readUntilOffset: 0 }));
    read(book, 2000);
    book.forgetAll();
    expect([3, 4].map((lane) => book.carriedOf(lane, LONG)?.ceiling)).toEqual([200, 370]);
  });
});

test('log time counts the time before a life whole in its span alone', () => {
  const time = new LogTime(1000);
  time.advanceTo(0);
  time.advanceTo(1000);
  time.advanceTo(3_601_000);
  expect([time.ms, time.spanMs]).toEqual([3000, 3000]);
  time.advanceTo(3_661_000);
  time.countWholeStep(true);
  expect([time.ms, time.spanMs]).toEqual([5000, 63_000]);
  time.advanceTo(0);
  time.countWholeStep(true);
  expect([time.ms, time.spanMs]).toEqual([5000, 63_000]);
});

describe('many ramps that end one by one', () => {
  const COUNT = 2000;
  const READ_EVERY_MS = 10;
  /** Map look-ups for one end. A scan of all has a thousand of them on average. */
  const EACH_MAX = 20;
  const at = (ms: number) => ({ ms, spanMs: ms, wholeMs: ms, appendMs: ms });

  function bookOf(renewed: boolean) {
    const changed: number[] = [];
    const book = new RampBook(1000, (lane) => changed.push(lane));
    const say = (fromMs: number, sequence: number) => {
      for (let lane = 0; lane < COUNT; lane++) {
        book.advanceTo(at(fromMs + lane * READ_EVERY_MS), 2000);
        book.apply(lane, state(280, sequence, { readUntilOffset: 2000 }));
      }
    };
    say(0, 1);
    if (renewed) say(COUNT * READ_EVERY_MS, 2);
    changed.length = 0;
    return { book, changed };
  }

  test.each([
    ['once', false],
    ['and once more', true],
  ])('said %s: each is forgotten and told in its turn, without a look at the others', (_, renewed) => {
    const { book, changed } = bookOf(renewed);
    const firstEndMs = (renewed ? COUNT * READ_EVERY_MS : 0) + 30_000;
    // Until the first end nothing is looked through either.
    const lookUps = countLookUps();
    const hidden: number[] = [];
    for (let turn = 0; turn < COUNT; turn++) {
      hidden.push(...book.advanceTo(at(firstEndMs + turn * READ_EVERY_MS + 1), 2000 + turn));
      if (turn % 500 === 0) expect(changed.length).toBe(turn + 1);
    }
    expect(lookUps()).toBeLessThan(EACH_MAX * COUNT);
    expect(changed).toEqual(Array.from({ length: COUNT }, (__, lane) => lane));
    // Nobody knows them any more, so nothing is hidden from newcomers.
    expect(hidden).toEqual([]);
  });

  test('those that newcomers take for ended are told in turn, once', () => {
    const { book, changed } = bookOf(false);
    const lookUps = countLookUps();
    const hidden: number[] = [];
    for (let turn = 0; turn < COUNT; turn++) {
      const wholeMs = 30_000 + turn * READ_EVERY_MS + 1;
      hidden.push(...book.advanceTo({ ...at(20_000), wholeMs }, 2000 + turn));
      if (turn % 500 === 0) expect(hidden.length).toBe(turn + 1);
    }
    expect(lookUps()).toBeLessThan(EACH_MAX * COUNT);
    expect([hidden, changed]).toEqual([Array.from({ length: COUNT }, (_, lane) => lane), []]);
  });

  test('the same for those that another log has carried on', () => {
    const { book } = bookOf(false);
    for (let lane = 0; lane < COUNT; lane++) {
      book.apply(lane, { ...state(280, 3, { readUntilOffset: 2000 }), timeToLiveMs: 1000 + lane });
    }
    book.forgetAll();
    const lookUps = countLookUps();
    for (let lane = 0; lane < COUNT; lane++) {
      book.advanceTo(at(1001 + lane), lane);
      if (lane % 500 === 0) expect([book.has(lane), book.has(lane + 1)]).toEqual([false, lane + 1 < COUNT]);
    }
    expect(lookUps()).toBeLessThan(EACH_MAX * COUNT);
    expect(book.has(COUNT - 1)).toBe(false);
  });

  test('one whose last record gives it less time ends by that one, and its ends do not pile up', () => {
    const changed: number[] = [];
    const book = new RampBook(1000, (lane) => changed.push(lane));
    for (let sequence = 1; sequence <= 1000; sequence++) {
      book.advanceTo(at(sequence), 2000);
      book.apply(3, { ...state(280, sequence, { readUntilOffset: 2000 }), timeToLiveMs: 30_000 - 2 * sequence });
    }
    changed.length = 0;
    book.advanceTo(at(29_000), 2000);
    expect(changed).toEqual([]);
    book.advanceTo(at(29_001), 2000);
    expect(changed).toEqual([3]);
    const lookUps = countLookUps();
    book.advanceTo(at(60_000), 2000);
    expect(lookUps()).toBeLessThan(EACH_MAX);
  });
});

/** Entries of maps that are looked up or passed by, from now on. */
function countLookUps(): () => number {
  let count = 0;
  const { get, entries } = Map.prototype;
  const iterator = Map.prototype[Symbol.iterator];
  vi.spyOn(Map.prototype, 'get').mockImplementation(function (this: Map<unknown, unknown>, key: unknown) {
    count++;
    return get.call(this, key);
  });
  Map.prototype[Symbol.iterator] = function* (this: Map<unknown, unknown>) {
    for (const entry of { [Symbol.iterator]: () => entries.call(this) }) {
      count++;
      yield entry;
    }
  } as typeof iterator;
  onTestFinished(() => {
    Map.prototype[Symbol.iterator] = iterator;
    vi.restoreAllMocks();
  });
  return () => count;
}
