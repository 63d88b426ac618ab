import { describe, expect, test } from 'vitest';
import type { Frame, LiveFeed, LiveView } from '../../../src/node/feed/live-feed.js';
import {
  type EndOfStream,
  type LiveSink,
  LiveStreams,
  PENDING_BYTES_MAX,
  STREAMS_MAX,
} from '../../../src/node/feed/live-streams.js';

const VIEW: LiveView = { order: 'heat', find: '', from: 0, count: 10, group: null };

/** A reader that remembers what it got. */
class Reader implements LiveSink {
  readonly got: string[] = [];
  ended: EndOfStream | null = null;
  pendingBytes = 0;
  isAllowed = true;

  write(bytes: Buffer): void {
    this.got.push(bytes.toString());
  }

  end(reason: EndOfStream): void {
    this.ended = reason;
  }
}

/** A feed whose one frame changes when it is told to. */
function feedOf() {
  const state = { ticks: 0, changedAtTick: 0, asked: 0 };
  const feed = {
    get ticks() {
      return state.ticks;
    },
    tick: () => {
      state.ticks++;
    },
    framesOf: (): Frame[] => {
      state.asked++;
      const { changedAtTick } = state;
      return [{ event: 'groups', json: '{}', bytes: Buffer.from(`frame ${changedAtTick}`), changedAtTick }];
    },
  };
  return { state, feed: feed as unknown as LiveFeed };
}

describe('streams', () => {
  test('a reader gets all at once, and afterwards what has changed', () => {
    const { feed, state } = feedOf();
    const streams = new LiveStreams(feed, () => true);
    const reader = new Reader();
    streams.add(VIEW, reader);
    streams.tick();
    streams.tick();
    expect(reader.got).toEqual(['frame 0']);
    state.changedAtTick = 3;
    streams.tick();
    streams.tick();
    expect(reader.got).toEqual(['frame 0', 'frame 3']);
  });

  test('a reader that takes nothing is dropped and told why; the others go on', () => {
    const { feed, state } = feedOf();
    const streams = new LiveStreams(feed, () => true);
    const [slow, quick] = [new Reader(), new Reader()];
    streams.add(VIEW, slow);
    streams.add(VIEW, quick);
    slow.pendingBytes = PENDING_BYTES_MAX + 1;
    state.changedAtTick = 1;
    streams.tick();
    expect([slow.ended, quick.ended]).toEqual(['too-slow', null]);
    expect([slow.got.length, quick.got.length]).toEqual([1, 2]);
    expect(streams.ended['too-slow']).toBe(1);
    expect(streams.size).toBe(1);
  });

  test('a reader that may not look any more, and one of a group that is gone, are told so', () => {
    const { feed } = feedOf();
    const streams = new LiveStreams(feed, (group) => group !== 7);
    const [stranger, late] = [new Reader(), new Reader()];
    streams.add(VIEW, stranger);
    streams.add({ ...VIEW, group: 7 }, late);
    stranger.isAllowed = false;
    streams.tick();
    expect([stranger.ended, late.ended]).toEqual(['access-changed', 'group-deleted']);
  });

  test('there is room for so many, and again when one is gone; the end of the node ends all', () => {
    const { feed } = feedOf();
    const streams = new LiveStreams(feed, () => true);
    const readers = Array.from({ length: STREAMS_MAX }, () => new Reader());
    const ends = readers.map((reader) => streams.add(VIEW, reader));
    expect(streams.isFull).toBe(true);
    ends[0]?.();
    expect(streams.isFull).toBe(false);
    streams.close();
    expect(new Set(readers.slice(1).map(({ ended }) => ended))).toEqual(new Set(['stopping']));
    expect(streams.size).toBe(0);
  });
});
