import { type Broken, playStory } from './play-story.js';
import type { Act, Story } from './story.js';

/** Shrinks a story that breaks a promise, step by step: by acts, nodes, partitions and buckets. */
export async function shrinkStory(story: Story, promise: Broken['promise'], most = 600): Promise<Story> {
  let smallest = story;
  let left = most;
  const isBroken = async (candidate: Story) => {
    if (left-- <= 0) return false;
    const { broken } = await playStory(candidate);
    return broken.some((one) => one.promise === promise);
  };
  const tryIt = async (candidate: Story) => {
    if (!(await isBroken(candidate))) return false;
    smallest = candidate;
    return true;
  };
  for (let isSmaller = true; isSmaller && left > 0; ) {
    isSmaller = false;
    for (let size = Math.ceil(smallest.acts.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let from = 0; from < smallest.acts.length; ) {
        const acts = smallest.acts.toSpliced(from, size);
        if (await tryIt({ ...smallest, acts })) isSmaller = true;
        else from += size;
      }
    }
    for (const candidate of smallerClusters(smallest)) if (await tryIt(candidate)) isSmaller = true;
    for (let at = 0; at < smallest.acts.length; at++) {
      for (const act of simplerActs(smallest.acts[at])) {
        if (await tryIt({ ...smallest, acts: smallest.acts.with(at, act) })) isSmaller = true;
      }
    }
  }
  return smallest;
}

function smallerClusters(story: Story): Story[] {
  const { nodes, partitions, buckets } = story;
  const candidates: Story[] = [];
  if (partitions > 1) candidates.push({ ...story, partitions: 1 });
  for (const fewer of [1, nodes - 1]) if (fewer < nodes && fewer > 0) candidates.push({ ...story, nodes: fewer });
  for (const bucket of buckets) if (buckets.length > 1) candidates.push({ ...story, buckets: [bucket] });
  if (story.sampleIntervalMs !== 20) candidates.push({ ...story, sampleIntervalMs: 20 });
  return candidates;
}

function simplerActs(act: Act): Act[] {
  if ('times' in act && act.times > 1)
    return [
      { ...act, times: Math.ceil(act.times / 2) },
      { ...act, times: 1 },
    ];
  if (act.act === 'drain') {
    const plain = { ...act, isEverywhere: false, isPiecewise: true };
    return act.isEverywhere || !act.isPiecewise ? [plain, { ...act, isPiecewise: true }] : [];
  }
  return [];
}
