import { expect, test } from 'vitest';
import { playStory } from '../../../sim/account/play-story.js';
import type { Story } from '../../../sim/account/story.js';

/** Stories that broke a promise once, made small by `shrinkStory`. */
const STORIES: Readonly<Record<string, Story>> = {
  'keys that all nodes spend silently, beside one that used the bucket lately': {
    seed: 21727,
    nodes: 4,
    partitions: 1,
    delays: { appendMs: [10, 25], deliveryMs: [10, 25] },
    sampleIntervalMs: 20,
    buckets: [{ per: 'Second', quota: 10, burst: 100, isKey: true }],
    acts: [
      { act: 'drain', at: 0.144, of: 0.683, isEverywhere: false, isPiecewise: true },
      { act: 'pass', ms: 12000 },
      { act: 'drain', at: 0.751, of: 0.803, isEverywhere: true, isPiecewise: true },
    ],
  },
  'a node whose own record has come back takes what is left after silent parts': {
    seed: 20401,
    nodes: 5,
    partitions: 2,
    delays: { appendMs: [10, 25], deliveryMs: [10, 25] },
    sampleIntervalMs: 20,
    buckets: [{ per: 'Second', quota: 10, burst: 100, isKey: true }],
    acts: [
      { act: 'pass', ms: 5 },
      { act: 'leave', at: 0.561, backMs: 1499.643, compacted: true },
      { act: 'pass', ms: 1000 },
      { act: 'wait', at: 0.93, of: 0.83, part: 0.33, waitMs: 50 },
      { act: 'pass', ms: 12000 },
      { act: 'drain', at: 0.167, of: 0.272, isEverywhere: true, isPiecewise: true },
      { act: 'wait', at: 0.185, of: 0.267, part: 0.33, waitMs: 2000 },
    ],
  },
  'a silent key on twelve nodes': {
    seed: 20429,
    nodes: 12,
    partitions: 1,
    delays: { appendMs: [50, 100], deliveryMs: [50, 100] },
    sampleIntervalMs: 50,
    buckets: [
      { per: 'Day', quota: 1000, burst: null, isKey: false },
      { per: 'Second', quota: 100, burst: 200, isKey: false },
      { per: 'Minute', quota: 600, burst: null, isKey: true },
    ],
    acts: [
      { act: 'wait', at: 0.608, of: 0.572, part: 0.33, waitMs: 20000 },
      { act: 'limit', bucket: 0.568, factor: 0.5 },
      { act: 'move', at: 0.763, of: 0.886, part: 1, everyMs: 20, times: 7 },
      { act: 'move', at: 0.871, of: 0.547, part: 1, everyMs: 20, times: 2 },
      { act: 'drain', at: 0.251, of: 0.714, isEverywhere: true, isPiecewise: true },
    ],
  },
  'nodes that overspend at one instant and are killed: their rows say together when the bucket is full': {
    seed: 22435,
    nodes: 3,
    partitions: 1,
    delays: { appendMs: [50, 100], deliveryMs: [50, 100] },
    sampleIntervalMs: 20,
    buckets: [{ per: 'Hour', quota: 600, burst: null, isKey: true }],
    acts: [
      { act: 'drain', at: 0.141, of: 0.225, isEverywhere: true, isPiecewise: true },
      { act: 'pass', ms: 5000 },
      { act: 'night', ms: 3600000, isKilled: true, isLogLost: false, compacted: false },
      { act: 'pass', ms: 5000 },
      { act: 'drain', at: 0.305, of: 0.441, isEverywhere: true, isPiecewise: true },
    ],
  },
  'nodes that overspend at one instant and leave say so in their last words': {
    seed: 5622,
    nodes: 2,
    partitions: 1,
    delays: { appendMs: [50, 100], deliveryMs: [50, 100] },
    sampleIntervalMs: 20,
    buckets: [{ per: 'Day', quota: 1000, burst: null, isKey: false }],
    acts: [
      { act: 'drain', at: 0.625, of: 0.229, isEverywhere: true, isPiecewise: true },
      { act: 'night', ms: 3600000, isKilled: false, isLogLost: false, compacted: false },
      { act: 'pass', ms: 1000 },
      { act: 'drain', at: 0.929, of: 0.007, isEverywhere: true, isPiecewise: true },
    ],
  },
  'nodes that used a bucket before it was full, beside two that begin to follow it': {
    seed: 5394,
    nodes: 3,
    partitions: 1,
    delays: { appendMs: [0.5, 2], deliveryMs: [0.5, 3] },
    sampleIntervalMs: 20,
    buckets: [{ per: 'Second', quota: 10, burst: 100, isKey: false }],
    acts: [
      { act: 'start', compacted: true },
      { act: 'pass', ms: 5000 },
      { act: 'drain', at: 0.554, of: 0.748, isEverywhere: false, isPiecewise: true },
      { act: 'wait', at: 0.354, of: 0.921, part: 0.2, waitMs: 50 },
      { act: 'pass', ms: 5000 },
      { act: 'pass', ms: 5000 },
      { act: 'pass', ms: 1000 },
      { act: 'drain', at: 0.557, of: 0.783, isEverywhere: true, isPiecewise: true },
    ],
  },
};

test.each(Object.keys(STORIES))('%s', async (name) => {
  expect((await playStory(STORIES[name]!)).broken).toEqual([]);
});
