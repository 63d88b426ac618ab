import { describe, expect, test } from 'vitest';
import type { BackendRecord } from '../../../../src/core/base/protocol/record.js';
import { BackendSender, type BackendWord } from '../../../../src/core/report/backend-sender.js';
import { BackendBook } from '../../../../src/core/target/backend-book.js';
import { HEALTHY } from '../../../../src/core/target/throttling-ratio.js';
import { SETTINGS } from '../../../simulation/settings.js';

const LIMITING = { ...SETTINGS.limiting, maxBackends: 2 };

function said(ratio: number, { nodeKey = 1, incarnation = 1, sequence = 1, backend = 'db' } = {}): BackendRecord {
  const author = { nodeKey, incarnation, sequence };
  return { kind: 'backend', author, backend, zone: 'a', health: { kind: 'ratio', ratio } };
}

function ratioIn(book: BackendBook): number | undefined {
  return [...book.all()][0]?.ratio;
}

function namesIn(book: BackendBook): string[] {
  return [...book.all()].map(({ name }) => name).sort();
}

describe('what the log says of a backend', () => {
  test.each([
    { says: 'an older sequence of the same life', record: said(2, { sequence: 4 }), verdict: 'repeated', ratio: 0.5 },
    { says: 'the same sequence again', record: said(2, { sequence: 5 }), verdict: 'repeated', ratio: 0.5 },
    { says: 'an earlier life', record: said(2, { incarnation: 1, sequence: 99 }), verdict: 'repeated', ratio: 0.5 },
    { says: 'a later life that counts anew', record: said(2, { incarnation: 3 }), verdict: 'applied', ratio: 2 },
    { says: 'another node, whatever it counts', record: said(2, { nodeKey: 7 }), verdict: 'applied', ratio: 2 },
  ])('$says: $verdict', ({ record, verdict, ratio }) => {
    const book = new BackendBook('demo', LIMITING);
    book.apply(said(0.5, { incarnation: 2, sequence: 5 }), 0);
    expect(book.apply(record, 1)).toBe(verdict);
    expect(ratioIn(book)).toBe(ratio);
  });

  test('the last good word holds for healthValidMs, then none; a late repetition does not revive it', () => {
    const book = new BackendBook('demo', LIMITING);
    book.apply(said(0.5, { sequence: 5 }), 0);
    book.expire(LIMITING.healthValidMs);
    expect(ratioIn(book)).toBe(0.5);
    book.expire(LIMITING.healthValidMs + 1);
    expect(ratioIn(book)).toBe(HEALTHY);
    expect(book.apply(said(0.1, { sequence: 4 }), LIMITING.healthValidMs + 2)).toBe('repeated');
    expect(ratioIn(book)).toBe(HEALTHY);
  });

  test('the newest life of an author is that of its records alone, whichever backend and in whatever order', () => {
    const lives = [
      { nodeKey: 1, incarnation: 3 },
      { nodeKey: 7, incarnation: 9 },
      { nodeKey: 1, incarnation: 2 },
      { nodeKey: 4, incarnation: 1 },
    ];
    for (const told of [lives, [...lives].reverse()]) {
      const book = new BackendBook('demo', { ...LIMITING, maxBackends: 9 });
      for (const [at, life] of told.entries()) book.apply(said(0.5, { ...life, backend: `db-${at}` }), 0);
      expect([1, 4, 7, 8].map((nodeKey) => book.newestLifeOf(nodeKey))).toEqual([3, 1, 9, 0]);
    }
  });

  test('10,000 invented names: two are known, and those that are known go on', () => {
    const book = new BackendBook('demo', LIMITING);
    for (const backend of ['db', 'index']) book.apply(said(0.5, { backend }), 0);
    for (let name = 0; name < 10_000; name++) {
      expect(book.apply(said(0.1, { backend: `f-${name}` }), 1)).toBe('too-many-backends');
    }
    expect(namesIn(book)).toEqual(['db', 'index']);
    expect(book.apply(said(0.9, { sequence: 2 }), 2)).toBe('applied');
    expect([...book.all()].map(({ ratio }) => ratio)).toEqual([0.5, 0.9]);
  });

  test('whoever is silent for longest makes room, and nobody who is not', () => {
    const book = new BackendBook('demo', LIMITING);
    const { healthValidMs } = LIMITING;
    book.apply(said(0.5, { backend: 'first' }), 0);
    book.apply(said(0.5, { backend: 'second' }), 1);
    book.apply(said(0.5, { backend: 'first', sequence: 2 }), 2);
    book.expire(healthValidMs + 2);
    expect(book.hasRoomFor('third')).toBe(true);
    expect(book.apply(said(0.5, { backend: 'third' }), healthValidMs + 2)).toBe('applied');
    expect(namesIn(book)).toEqual(['first', 'third']);
    expect(book.hasRoomFor('fourth')).toBe(false);
    expect(book.apply(said(0.5, { backend: 'fourth' }), healthValidMs + 2)).toBe('too-many-backends');
    book.expire(healthValidMs + 3);
    expect(book.apply(said(0.5, { backend: 'fourth' }), healthValidMs + 3)).toBe('applied');
    expect(namesIn(book)).toEqual(['fourth', 'third']);
  });
});

describe('what a node writes of a backend', () => {
  const level = (value: number): BackendWord => {
    return { backend: 'db', zone: 'a', health: { kind: 'level', level: value, target: 800, spring: 200 } };
  };

  function write(told: readonly (readonly [atMs: number, level: number])[], levelSmoothingMs: number): number[] {
    const sender = new BackendSender({ ...LIMITING, levelSmoothingMs }, 50);
    const written: number[] = [];
    for (const [atMs, value] of told) {
      sender.report(level(value), atMs);
      sender.sendDue(atMs, ({ health }) => written.push(health.kind === 'level' ? Math.round(health.level) : -1));
    }
    return written;
  }

  const JUMP = [
    ...[0, 1000].map((atMs) => [atMs, 700] as const),
    ...[2000, 3000, 4000].map((atMs) => [atMs, 1000] as const),
  ];

  test.each([
    { says: 'at once', levelSmoothingMs: 0, written: [700, 1000] },
    { says: 'with 1 s', levelSmoothingMs: 1000, written: [700, 890, 959, 985] },
  ])('a level that jumps is followed $says', ({ levelSmoothingMs, written }) => {
    expect(write(JUMP, levelSmoothingMs)).toEqual(written);
  });

  test.each([
    { says: 'what does not change four times while it is valid', toldUntilMs: 10_000, at: [0, 2600, 5200, 7800] },
    { says: 'nothing that nobody has told since', toldUntilMs: 0, at: [0] },
  ])('writes $says', ({ toldUntilMs, at }) => {
    const sender = new BackendSender({ ...LIMITING, healthValidMs: 10_000 }, 50);
    const written: number[] = [];
    for (let nowMs = 0; nowMs < 10_000; nowMs += 200) {
      if (nowMs <= toldUntilMs) sender.report(level(700), nowMs);
      sender.sendDue(nowMs, () => written.push(nowMs));
    }
    expect(written).toEqual(at);
  });

  test('into a log that begins anew at once, if it was told within the time that a word holds', () => {
    const sender = new BackendSender({ ...LIMITING, healthValidMs: 10_000 }, 50);
    const written: string[] = [];
    const take = ({ backend }: BackendWord) => void written.push(backend);
    sender.report({ ...level(700), backend: 'old' }, 0);
    sender.report({ ...level(700), backend: 'known' }, 1);
    sender.report({ ...level(700), backend: 'written just now' }, 9990);
    sender.sendDue(9990, take);
    sender.sayAgain(10_001);
    sender.sendDue(10_001, take);
    expect(written).toEqual(['old', 'known', 'written just now', 'known', 'written just now']);
  });

  const ratio = (value: number, zone = 'a'): BackendWord => {
    return { backend: 'db', zone, health: { kind: 'ratio', ratio: value } };
  };
  const [AFTER_GAP, QUARTER_OF_VALID] = [50, 2500];

  test.each([
    { says: 'another zone', first: ratio(0.5), next: ratio(0.5, 'b'), writtenMs: AFTER_GAP },
    { says: 'a ratio that is 4 % larger', first: ratio(0.5), next: ratio(0.52), writtenMs: AFTER_GAP },
    { says: 'a ratio that is 1 % larger', first: ratio(0.5), next: ratio(0.505), writtenMs: QUARTER_OF_VALID },
    { says: 'that it is healthy again', first: ratio(0.5), next: level(100), writtenMs: AFTER_GAP },
    { says: 'that it is not healthy any more', first: level(100), next: ratio(0.5), writtenMs: AFTER_GAP },
    { says: 'that it is still healthy', first: level(100), next: level(200), writtenMs: QUARTER_OF_VALID },
  ])('$says is written $writtenMs ms after the last word', ({ first, next, writtenMs }) => {
    const sender = new BackendSender({ ...LIMITING, healthValidMs: 10_000, levelSmoothingMs: 0 }, 50);
    sender.report(first, 0);
    sender.sendDue(0, () => undefined);
    const written: number[] = [];
    sender.report(next, 10);
    for (let nowMs = 10; nowMs < 5000; nowMs += 10) sender.sendDue(nowMs, () => written.push(nowMs));
    expect(written).toEqual([writtenMs]);
  });

  test('a level is followed across rounds in which there is nothing to write', () => {
    const sender = new BackendSender({ ...LIMITING, healthValidMs: 10_000, levelSmoothingMs: 60_000 }, 50);
    const written: BackendWord[] = [];
    sender.report(level(700), 0);
    for (let nowMs = 0; nowMs < 1000; nowMs += 20) sender.sendDue(nowMs, () => undefined);
    sender.report(level(1000), 1000);
    sender.sendDue(5000, (word) => written.push(word));
    const { health } = written[0];
    expect(health.kind === 'level' && health.level).toBeCloseTo(1000 - 300 * Math.exp(-1 / 60), 6);
  });

  test('after a silence longer than a word holds it begins anew', () => {
    const sender = new BackendSender({ ...LIMITING, levelSmoothingMs: 60_000 }, 50);
    const written: BackendWord[] = [];
    const take = (word: BackendWord) => void written.push(word);
    sender.report(level(100), 0);
    sender.sendDue(0, take);
    sender.sendDue(LIMITING.healthValidMs + 1, take);
    sender.report(level(1000), LIMITING.healthValidMs + 2);
    sender.sendDue(LIMITING.healthValidMs + 2, take);
    expect(written.at(-1)).toEqual(level(1000));
  });
});
