import { describe, expect, test } from 'vitest';
import { type LaneRow, LaneRows } from '../../../src/core/strict/lane-rows.js';
import { StrictFold } from '../../../src/core/strict/strict-fold.js';
import { recordKey, type StrictRecord } from '../../../src/core/strict/strict-record.js';
import { unwrittenState } from '../../../src/core/strict/strict-state.js';

const SLOTS = { amount: 0, perMs: 1, depth: 0, slots: true, keyed: true } as const;
const quota = (by: string, depth = 2): StrictRecord => ({ kind: 'quota', revision: 1, amount: 0, depth, by });
const claim = (node: string, seq: number, hold: number): StrictRecord => {
  return { kind: 'claim', node, life: 1, seq, want: hold, lagMs: 0, taken: 0, hold };
};
const leave = (node: string, seq: number): StrictRecord => ({ kind: 'leave', node, life: 1, seq, taken: 0 });
const end = (at: number, by: string): StrictRecord => ({ kind: 'end', at, by });
const state = (at: number, fold: StrictFold): StrictRecord => {
  return { kind: 'state', node: 'a', life: 1, at, state: fold.state };
};

/** A log of records a second apart, and one reader of all of them. */
class Story {
  readonly rows = new LaneRows<StrictRecord>();
  readonly live = new StrictFold(unwrittenState(SLOTS));
  #offset = -1;
  #ms = 1000;

  write(record: StrictRecord, laterMs = 1000): this {
    this.#offset++;
    this.#ms += laterMs;
    const read = { offset: this.#offset, appendMs: this.#ms, record };
    this.live.apply(read);
    this.rows.read({ key: recordKey(record), offset: this.#offset, appendMs: this.#ms, value: record }, this.#ms);
    return this;
  }

  get folded(): StrictFold {
    return this.rows.fold(SLOTS, decoded);
  }
}

function decoded({ offset, appendMs, value }: LaneRow<StrictRecord>) {
  return { offset, appendMs, record: value };
}

describe('rows of a lane say what who read them all knows', () => {
  test('from no row on, and behind a checkpoint, whose older rows may go', () => {
    const story = new Story()
      .write(quota('a'))
      .write(claim('a', 1, 1))
      .write(claim('b', 1, 2));
    expect(story.folded.state).toEqual(story.live.state);
    expect([...story.live.holders.values()].map(({ node, hold }) => `${node} ${hold}`)).toEqual(['a 1', 'b 1']);
    const late = claim('a', 2, 1);
    story.write(late).write(state(2, new StrictFold(story.live.state)));
    expect(story.rows.replaced).toEqual(['quota/a', 'claim/a/1/1', 'claim/b/1/1']);
    expect(story.rows.rows.map(({ key }) => key)).toEqual([recordKey(late), 'state/2']);
    for (const key of story.rows.replaced) story.rows.deleted(key);
    expect(story.rows.replaced).toEqual([]);
  });

  test('they are sure if they were read live, or are a checkpoint alone', () => {
    const story = new Story().write(quota('a')).write(claim('a', 1, 1));
    expect([-1, 0, 1].map((liveFrom) => story.rows.isSure(liveFrom))).toEqual([true, false, false]);
    story.write(leave('a', 2)).write(state(2, story.live));
    expect(story.rows.isSure(3)).toBe(true);
    expect(story.rows.isWhole).toBe(true);
  });
});

describe('an end counts where nobody is remembered', () => {
  const used = () => new Story().write(quota('a')).write(claim('a', 1, 1));

  test.each([
    ['while somebody holds a slot', () => used().write(end(1, 'b'), 90_000), false],
    ['soon after the last has left', () => used().write(leave('a', 2)).write(end(2, 'b'), 59_000), false],
    ['a minute later', () => used().write(leave('a', 2)).write(end(2, 'b'), 61_000), true],
    ['if somebody wrote meanwhile', () => used().write(leave('a', 2)).write(end(1, 'b'), 61_000), false],
    ['twice', () => used().write(leave('a', 2)).write(end(2, 'b'), 61_000).write(end(3, 'c')), true],
  ])('%s', (_, play, isOver) => {
    const story = play();
    expect(story.live.isUnwritten).toBe(isOver);
    if (isOver) expect(story.live.state).toEqual(unwrittenState(SLOTS));
    expect(story.folded.state).toEqual(story.live.state);
  });

  test('what comes then is read alike by who has seen the rows, and by who finds none', () => {
    const story = used().write(leave('a', 2)).write(end(2, 'b'), 61_000);
    const fresh = new StrictFold(unwrittenState(SLOTS));
    const stray = claim('a', 9, 1);
    for (const [at, record] of [stray, quota('c', 1), quota('d', 5), claim('c', 1, 3)].entries()) {
      const read = { offset: 10 + at, appendMs: 100_000 + at, record };
      story.live.apply(read);
      fresh.apply(read);
    }
    expect(story.live.state).toEqual(fresh.state);
    expect(fresh.quota.depth).toBe(1);
    expect(fresh.heldTokens).toBe(1);
  });
});
