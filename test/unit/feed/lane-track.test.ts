import { describe, expect, test } from 'vitest';
import { LaneTrack, TRACK_SECONDS } from '../../../src/node/feed/live-history.js';

const FIGURES = { quota: 100, target: 100, admitted: 40, wanted: 50, tokens: Number.NaN, refused: 3 };

function second(track: LaneTrack, tick: number, shares: Readonly<Record<string, number>>, wanted = 50): void {
  track.clear(tick);
  const nodes = Object.entries(shares).map(([nodeId, share]) => ({ nodeId, share }));
  track.write(tick, { ...FIGURES, wanted }, nodes);
}

describe('a track of a lane', () => {
  test('seconds come back in their order, and those at which nobody looked are null', () => {
    const track = new LaneTrack(0, 'orders', 1);
    second(track, 1, { a: 60, b: 40 }, 10);
    track.clear(2);
    second(track, 3, { a: 70, b: 30 }, 30);
    const { wanted, tokens, nodes } = track.read(1, 3);
    expect(wanted).toEqual([10, null, 30]);
    expect(tokens).toEqual([null, null, null]);
    expect(nodes).toEqual([
      { nodeId: 'a', share: [60, null, 70] },
      { nodeId: 'b', share: [40, null, 30] },
    ]);
    expect(track.figureAt('wanted', 3)).toBe(30);
  });

  test('after 15 minutes the oldest second is overwritten', () => {
    const track = new LaneTrack(0, 'orders', 1);
    for (let tick = 1; tick <= TRACK_SECONDS + 10; tick++) second(track, tick, { a: tick }, tick);
    const { wanted } = track.read(11, TRACK_SECONDS + 10);
    expect([wanted.length, wanted[0], wanted.at(-1)]).toEqual([TRACK_SECONDS, 11, TRACK_SECONDS + 10]);
  });

  test('eleven nodes have a column each, all others one: nothing is lost', () => {
    const track = new LaneTrack(0, 'orders', 1);
    second(track, 1, Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`n${at}`, 1])));
    const { nodes } = track.read(1, 1);
    expect(nodes.map(({ nodeId }) => nodeId).slice(10)).toEqual(['n10', null]);
    expect(nodes.reduce((sum, { share }) => sum + (share[0] as number), 0)).toBe(100);
  });
});
