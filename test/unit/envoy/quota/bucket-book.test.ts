import { beforeEach, describe, expect, it } from 'vitest';
import { QuotameshError } from '../../../../src/base/errors/quotamesh-error.js';
import type { Target } from '../../../../src/doors/envoy/quota/bucket.js';
import { type BucketAction, BucketBook, TTL_MS } from '../../../../src/doors/envoy/quota/bucket-book.js';
import type { BucketId } from '../../../../src/doors/envoy/quota/bucket-id.js';
import type { Enforcers } from '../../../../src/node/enforcers/enforcers.js';
import { createPart, type Part } from '../../../../src/node/enforcers/membership.js';

const ALICE = { user: 'alice' };
const BOB = { user: 'bob' };

/** Enforcers that say what they are asked; a part for each lane. */
class FakeEnforcers {
  readonly parts = new Map<number, Part>();
  readonly reports: Parameters<Enforcers['reportSome']>[0][] = [];
  readonly assigned: (readonly [lane: number, isAnew: boolean])[] = [];
  readonly left: number[] = [];
  /** Lanes for which there is no room. */
  readonly full = new Set<number>();
  ended = 0;

  give(lane: number, rate: number, depth = rate / 10): void {
    const part = { ...createPart(), isKnown: true };
    part.rate.set([rate, Infinity]);
    part.depth.set([depth, Infinity]);
    this.parts.set(lane, part);
  }

  reportSome(report: Parameters<Enforcers['reportSome']>[0]): void {
    if (report.lanes.some(({ lane }) => this.full.has(lane)))
      throw new QuotameshError('ENFORCERS_FULL', { what: 'lanes', enforcer: report.enforcer });
    this.reports.push(report);
  }

  partOf(_: string, lane: number): Part {
    return this.parts.get(lane) ?? createPart();
  }

  assign(name: string, lane: number, isAnew: boolean): Part {
    this.assigned.push([lane, isAnew]);
    return this.partOf(name, lane);
  }

  leave(_: string, lane: number): void {
    this.left.push(lane);
  }

  end(): void {
    this.ended++;
  }
}

describe('the buckets of a stream', () => {
  let enforcers: FakeEnforcers;
  let targets: Record<string, Target>;
  let book: BucketBook;
  let answers: BucketAction[] = [];
  beforeEach(() => {
    enforcers = new FakeEnforcers();
    answers = [];
    targets = { alice: { kind: 'lane', lane: 0 }, bob: { kind: 'lane', lane: 2 } };
    const targetOf = ({ user = '' }: BucketId): Target => targets[user] ?? { kind: 'allow' };
    book = new BucketBook({ enforcers, enforcer: 'one', life: 1, targetOf, bucketsMax: 3 });
  });

  const report = (nowMs: number, ...usages: [BucketId, number, number][]) => {
    const entries = usages.map(([id, allowed, denied]) => ({ id, allowed, denied }));
    book.begin(nowMs);
    answers = book.report(entries, nowMs);
  };
  /** What the last report was answered, if nothing has been told since, and what is due. */
  const told = (nowMs: number) => {
    const actions = [...answers, ...book.actions(nowMs)];
    answers = [];
    return actions.map(({ id, assignment }) => [id.user, assignment]);
  };
  const tokens = (perSecond: number, depth = perSecond / 10) => ({
    kind: 'bucket',
    tokens: perSecond,
    seconds: 1,
    depth,
  });

  it('that are reported every 65 s, beside one every 5 s, are not taken for idle in between', () => {
    enforcers.give(0, 100);
    enforcers.give(2, 100);
    report(0, [ALICE, 1, 0], [BOB, 1, 0]);
    for (let nowMs = 5000; nowMs <= 245_000; nowMs += 5000) {
      if (nowMs % 65_000 === 0) report(nowMs, [ALICE, 5, 0], [BOB, 60, 0]);
      else report(nowMs, [ALICE, 5, 0]);
      expect(told(nowMs).filter(([, assignment]) => assignment === null)).toEqual([]);
    }
    expect(book.size).toBe(2);
  });

  it('at a full node are told nothing, the others go on, and again once there is room', () => {
    enforcers.give(0, 100);
    enforcers.give(2, 100);
    report(0, [ALICE, 1, 0]);
    enforcers.full.add(2);
    report(5000, [ALICE, 500, 0], [BOB, 1, 0]);
    expect(enforcers.reports.at(-1)?.lanes.map(({ lane, admitted }) => [lane, admitted[0]])).toEqual([[0, 501]]);
    expect(told(5000).map(([user]) => user)).toEqual(['alice']);
    expect([...book.refused]).toEqual([['this node divides among as many buckets as it may', 1]]);
    enforcers.full.clear();
    report(10_000, [ALICE, 0, 0], [BOB, 1, 0]);
    expect(told(10_000).map(([user]) => user)).toContain('bob');
    expect(book.refused.size).toBe(0);
  });

  it('are told their share at once, once, and again before it ends', () => {
    enforcers.give(0, 500);
    report(0, [ALICE, 1, 0]);
    expect(told(0)).toEqual([['alice', tokens(500)]]);
    expect(enforcers.assigned).toEqual([[0, true]]);
    expect(told(100)).toEqual([]);
    expect(told(2999)).toEqual([]);
    expect(told(3000)).toEqual([['alice', tokens(500)]]);
    // Renewed, not made anew.
    expect(enforcers.assigned).toHaveLength(1);
  });

  it('of an unknown domain that is refused are denied, and of one that is allowed are not', () => {
    targets.mallory = { kind: 'deny' };
    report(0, [{ user: 'mallory' }, 1, 0], [{ user: 'carol' }, 1, 0]);
    expect(told(0)).toEqual([
      ['mallory', { kind: 'deny' }],
      ['carol', { kind: 'allow' }],
    ]);
  });

  it('are told what has moved by more than noise, at most twice a second', () => {
    enforcers.give(0, 500);
    report(0, [ALICE, 1, 0]);
    told(0);
    enforcers.give(0, 505);
    expect(told(600)).toEqual([]);
    enforcers.give(0, 600);
    expect(told(400)).toEqual([]);
    expect(told(600)).toEqual([['alice', tokens(600)]]);
    expect(enforcers.assigned.at(-1)).toEqual([0, false]);
    enforcers.give(0, 700);
    expect(told(1000)).toEqual([]);
    expect(told(1100)).toEqual([['alice', tokens(700)]]);
  });

  it('report what came since the stream began; both counts, and whether anything was denied', () => {
    report(0, [ALICE, 1, 0], [BOB, 1, 0]);
    report(5000, [ALICE, 40, 9]);
    expect(enforcers.reports.map(({ lanes }) => lanes)).toEqual([
      [
        { lane: 0, admitted: [1, 0], offered: [1, 0], isHeldBack: false },
        { lane: 2, admitted: [1, 0], offered: [1, 0], isHeldBack: false },
      ],
      [{ lane: 0, admitted: [41, 0], offered: [50, 0], isHeldBack: true }],
    ]);
  });

  it('of one lane divide its share by what came', () => {
    targets.bob = { kind: 'lane', lane: 0 };
    enforcers.give(0, 1000);
    report(0, [ALICE, 1, 0], [BOB, 1, 0]);
    report(5000, [ALICE, 999, 0], [BOB, 3000, 4000]);
    expect(told(5000)).toEqual([
      ['alice', tokens(200)],
      ['bob', tokens(800)],
    ]);
  });

  it('of which nothing comes are forgotten after a minute, and leave their lane', () => {
    enforcers.give(0, 500);
    report(0, [ALICE, 1, 0], [BOB, 1, 0]);
    for (let nowMs = 5000; nowMs <= 60_000; nowMs += 5000) report(nowMs, [ALICE, 1, 0], [BOB, 0, 0]);
    expect(told(60_000)).toContainEqual(['bob', null]);
    expect(enforcers.left).toEqual([2]);
    expect(book.size).toBe(1);
    // Its next request is a first one.
    report(60_001, [BOB, 1, 0]);
    expect(book.size).toBe(2);
  });

  it('are renewed nothing while no report comes, and that has ended before the part is given to others', () => {
    enforcers.give(0, 500);
    report(0, [ALICE, 1, 0]);
    let lastMs = 0;
    for (let nowMs = 0; nowMs < 60_000; nowMs += 100) if (told(nowMs).some(([, assigned]) => assigned)) lastMs = nowMs;
    expect(lastMs).toBeGreaterThanOrEqual(5000);
    expect(lastMs + TTL_MS).toBeLessThanOrEqual(enforcers.reports[0]!.ttlMs);
  });

  it('are renewed for a minute and more for one that reports once a minute', () => {
    enforcers.give(0, 500);
    for (const nowMs of [0, 60_000, 120_000]) report(nowMs, [ALICE, 1, 0]);
    let silentMs = 0;
    for (let nowMs = 120_000; nowMs < 180_000; nowMs += 1000) {
      silentMs = told(nowMs).length > 0 ? 0 : silentMs + 1000;
      expect(silentMs).toBeLessThan(TTL_MS);
    }
  });

  it('are told nothing while the share is not known, and all of it when nothing limits them', () => {
    report(0, [ALICE, 1, 0], [{ user: 'carol' }, 1, 0]);
    expect(told(0)).toEqual([['carol', { kind: 'allow' }]]);
    enforcers.give(0, 500);
    expect(told(200)).toEqual([['alice', tokens(500)]]);
  });

  it('that may not be told anything are named, and the others are served', () => {
    targets.bob = { kind: 'none', reason: 'group bob limits bytes, and Envoy counts requests' };
    enforcers.give(0, 500);
    const long = { user: 'x'.repeat(1100) };
    report(0, [BOB, 1, 0], [long, 1, 0], [ALICE, 1, 0], [{ user: 'carol' }, 1, 0], [{ user: 'dave' }, 1, 0]);
    expect(Object.fromEntries(book.refused)).toEqual({
      'group bob limits bytes, and Envoy counts requests': 1,
      'bucket has 1104 bytes; at most 1024 are allowed': 1,
      'bucket is one more than the 3 of a stream': 1,
    });
    expect(told(0).map(([user]) => user)).toEqual(['alice', 'carol']);
  });

  it('follow their name to another lane, as when a group is made anew', () => {
    enforcers.give(0, 500);
    enforcers.give(4, 300);
    report(0, [ALICE, 1, 0]);
    told(0);
    targets.alice = { kind: 'lane', lane: 4 };
    report(5000, [ALICE, 100, 0]);
    expect(enforcers.left).toEqual([0]);
    expect(told(5000)).toEqual([['alice', tokens(300)]]);
  });

  it('of a stream that is gone give back at once', () => {
    report(0, [ALICE, 1, 0]);
    book.end();
    expect([enforcers.ended, book.size]).toEqual([1, 0]);
  });
});
