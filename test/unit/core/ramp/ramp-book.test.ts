import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { LogTime } from '../../../../src/core/log/log-time.js';
import { RampBook } from '../../../../src/core/target/ramp/ramp-book.js';
import { GROUP, RAMP } from '../../../simulation/settings.js';
import { wideId } from '../../../wide-ids.js';

const RELAXED = { ...GROUP, ramp: RAMP };

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
  const COUNT = 1000;
  const READ_EVERY_MS = 10;
  /** Map look-ups for one end. A scan of all has five hundred of them on average. */
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
