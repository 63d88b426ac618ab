import { expect, test } from 'vitest';
import { playStory } from '../../../sim/account/play-story.js';
import type { Story } from '../../../sim/account/story.js';

const USUAL = {
  partitions: 1,
  delays: { appendMs: [10, 25], deliveryMs: [10, 25] },
  sampleIntervalMs: 20,
} as const;

/** Stories that broke a promise once, made small by `shrinkStory`; what is left out is usual. */
const STORIES: Readonly<Record<string, Omit<Story, keyof typeof USUAL> & Partial<Story>>> = {
  'a log that is lost after the node that used a bucket has restarted: the others say so as they stop': {
    seed: 3000653,
    nodes: 3,
    delays: { appendMs: [0.5, 2], deliveryMs: [0.5, 3] },
    buckets: [{ per: 'Day', quota: 1000, burst: null, isKey: false }],
    acts: [
      { act: 'drain', at: 0.444, of: 0.654, isEverywhere: false, isPiecewise: true },
      { act: 'deploy', everyMs: 8000, awayMs: 100, compacted: true },
      { act: 'pass', ms: 12000 },
      { act: 'lose-log' },
      { act: 'deploy', everyMs: 200, awayMs: 100, compacted: true },
      { act: 'pass', ms: 5000 },
      { act: 'drain', at: 0.36, of: 0.742, isEverywhere: true, isPiecewise: true },
    ],
  },
  'keys that all nodes spend silently, beside one that used the bucket lately': {
    seed: 21727,
    nodes: 4,
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
    delays: { appendMs: [50, 100], deliveryMs: [50, 100] },
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
    delays: { appendMs: [50, 100], deliveryMs: [50, 100] },
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
    delays: { appendMs: [0.5, 2], deliveryMs: [0.5, 3] },
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
  'a silent key after a raise of its quota, which a node hears of when it uses the key': {
    seed: 394,
    nodes: 2,
    buckets: [{ per: 'Second', quota: 100, burst: 200, isKey: true }],
    acts: [
      { act: 'probe', at: 0.25, of: 0.591, restMs: 30000, isWhole: false },
      { act: 'pass', ms: 31000 },
      { act: 'limit', bucket: 0.589, factor: 10 },
      { act: 'pass', ms: 31000 },
      { act: 'probe', at: 0.676, of: 0.705, restMs: 10000, isWhole: true },
    ],
  },
  'a cancelled reservation is told though nobody asks any more, of a key that became loud': {
    seed: 5162,
    nodes: 2,
    buckets: [{ per: 'Minute', quota: 5, burst: null, isKey: true }],
    acts: [
      { act: 'reserve', at: 0.044, of: 0.66, part: 1, heldMs: 28000, used: 0 },
      { act: 'reserve', at: 0.031, of: 0.664, part: 0, heldMs: 200000, used: 1 },
      { act: 'pass', ms: 31000 },
      { act: 'probe', at: 0.546, of: 0.704, restMs: 30000, isWhole: true },
    ],
  },
  'a node that gives back in its last words says how full the bucket is with that': {
    seed: 41120,
    nodes: 3,
    buckets: [{ per: 'Second', quota: 20, burst: 1000, isKey: false }],
    acts: [
      { act: 'drain', at: 0.988, of: 0.808, isEverywhere: false, isPiecewise: true },
      { act: 'pass', ms: 31000 },
      { act: 'deploy', everyMs: 1000, awayMs: 6000, compacted: true },
      { act: 'drain', at: 0.561, of: 0.341, isEverywhere: false, isPiecewise: true },
      { act: 'pass', ms: 31000 },
      { act: 'probe', at: 0.091, of: 0.077, restMs: 10000, isWhole: true },
    ],
  },
  'what came in since a node left pays for what was spent of a silent key': {
    seed: 42455,
    nodes: 2,
    delays: { appendMs: [1, 3], deliveryMs: [1, 8] },
    buckets: [{ per: 'Minute', quota: 600, burst: null, isKey: true }],
    acts: [
      { act: 'leave', at: 0.073, backMs: null, compacted: true },
      { act: 'move', at: 0.728, of: 0.358, part: 0.1, everyMs: 12000, times: 1 },
      { act: 'probe', at: 0.634, of: 0.334, restMs: 10000, isWhole: true },
    ],
  },
  'a debt outlives a lost log of which one node alone says it': {
    seed: 42946,
    nodes: 3,
    sampleIntervalMs: 50,
    buckets: [{ per: 'Hour', quota: 600, burst: null, isKey: false }],
    acts: [
      { act: 'drain', at: 0.327, of: 0.851, isEverywhere: true, isPiecewise: true },
      { act: 'pass', ms: 62000 },
      { act: 'lose-log' },
      { act: 'pass', ms: 200 },
      { act: 'drain', at: 0.232, of: 0.978, isEverywhere: false, isPiecewise: true },
    ],
  },
  'a node that starts in a lost log counts as those do that were there': {
    seed: 41298,
    nodes: 2,
    buckets: [{ per: 'Minute', quota: 600, burst: null, isKey: true }],
    acts: [
      { act: 'take', at: 0.054, of: 0.867, part: 0.3, heldMs: 15000, used: 0, waitMs: 3000 },
      { act: 'lose-log' },
      { act: 'leave', at: 0.173, backMs: 181.118, compacted: false },
      { act: 'pass', ms: 5000 },
      { act: 'drain', at: 0.702, of: 0.531, isEverywhere: true, isPiecewise: true },
    ],
  },
  'the first of ten nodes whose record of a burst has come back takes what the others leave': {
    seed: 5626,
    nodes: 10,
    partitions: 4,
    delays: { appendMs: [0.5, 2], deliveryMs: [0.5, 3] },
    buckets: [
      { per: 'Hour', quota: 60, burst: null, isKey: true },
      { per: 'Second', quota: 100, burst: 200, isKey: true },
    ],
    acts: [
      { act: 'drain', at: 0.901, of: 0.873, isEverywhere: true, isPiecewise: true },
      { act: 'drain', at: 0.107, of: 0.4, isEverywhere: true, isPiecewise: true },
      { act: 'drain', at: 0.181, of: 0.184, isEverywhere: true, isPiecewise: true },
      { act: 'wait', at: 0.005, of: 0.817, part: 0.05, waitMs: 2000 },
    ],
  },
  'a debt of processes that are gone outlives a lost log at nodes that read it': {
    seed: 43829,
    nodes: 2,
    delays: { appendMs: [0.5, 2], deliveryMs: [0.5, 3] },
    buckets: [{ per: 'Day', quota: 1000, burst: null, isKey: false }],
    acts: [
      { act: 'drain', at: 0.216, of: 0.741, isEverywhere: true, isPiecewise: true },
      { act: 'deploy', everyMs: 200, awayMs: 1600, compacted: false },
      { act: 'pass', ms: 5000 },
      { act: 'lose-log' },
      { act: 'pass', ms: 12000 },
      { act: 'drain', at: 0.923, of: 0.943, isEverywhere: true, isPiecewise: true },
    ],
  },
  'what was expected of a lane at rest does not pay for a burst at it': {
    seed: 43838,
    nodes: 3,
    delays: { appendMs: [1, 3], deliveryMs: [1, 8] },
    sampleIntervalMs: 50,
    buckets: [{ per: 'Second', quota: 100, burst: null, isKey: false }],
    acts: [
      { act: 'ask', at: 0.624, of: 0.878, part: 0.5, times: 3 },
      { act: 'pass', ms: 1000 },
      { act: 'consume', at: 0.321, of: 0.166, part: 0.11, isRequested: false },
      { act: 'pass', ms: 1000 },
      { act: 'kill', at: 0.495, backMs: 2624.598, compacted: true },
      { act: 'pass', ms: 1000 },
      { act: 'drain', at: 0.865, of: 0.263, isEverywhere: true, isPiecewise: true },
      { act: 'pass', ms: 5000 },
      { act: 'drain', at: 0.41, of: 0.66, isEverywhere: false, isPiecewise: true },
      { act: 'pass', ms: 200 },
      { act: 'drain', at: 0.134, of: 0.14, isEverywhere: true, isPiecewise: true },
    ],
  },
  'of a full bucket whoever has not used it lately takes an advance, beside one that has': {
    seed: 45041,
    nodes: 3,
    buckets: [{ per: 'Hour', quota: 600, burst: null, isKey: false }],
    acts: [
      { act: 'ask', at: 0.847, of: 0.588, part: 0, times: 28 },
      { act: 'pass', ms: 130000 },
      { act: 'probe', at: 0.625, of: 0.879, restMs: 30000, isWhole: true },
    ],
  },
  'a node that gave back all that it took leaves the others of a full bucket their advances': {
    seed: 46843,
    nodes: 4,
    partitions: 3,
    buckets: [{ per: 'Second', quota: 1, burst: 60, isKey: false }],
    acts: [
      { act: 'take', at: 0.053, of: 0.89, part: 1, heldMs: 500, used: 0, waitMs: 0 },
      { act: 'pass', ms: 12000 },
      { act: 'move', at: 0.433, of: 0.298, part: 1, everyMs: 20, times: 8 },
    ],
  },
};

test.each(Object.keys(STORIES))('%s', async (name) => {
  expect((await playStory({ ...USUAL, ...STORIES[name]! })).broken).toEqual([]);
});
