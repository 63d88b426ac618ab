import { type DrawOptions, drawStory } from './draw-story.js';
import { playStory } from './play-story.js';
import type { Act, Story } from './story.js';

/** Plays a seed's story; returns it with what it broke. */
export async function judgeAccount(seed: number, options?: DrawOptions) {
  const story = drawStory(seed, options);
  const { broken } = await playStory(story);
  return { broken, story };
}

export function describeStory(story: Story): readonly string[] {
  const { nodes, partitions, delays, sampleIntervalMs, buckets, acts } = story;
  const written = buckets.map(({ isKey, quota, per, burst }) => {
    return `${isKey ? 'keys' : 'group'} of ${quota} per ${per.toLowerCase()}${burst === null ? '' : `, burst ${burst}`}`;
  });
  const ways = `${delays.appendMs.join('–')} ms to the log, ${delays.deliveryMs.join('–')} ms from it`;
  return [
    `account: ${nodes} nodes, ${partitions} partitions, rounds of ${sampleIntervalMs} ms, ${ways}: ${written.join('; ')}`,
    ...acts.map(describeAct),
  ];
}

function describeAct({ act, ...facts }: Act): string {
  const told = Object.entries(facts).map(([name, value]) => {
    return `${name} ${typeof value === 'number' ? Math.round(value * 1000) / 1000 : value}`;
  });
  return `account: ${[act, ...told].join(', ')}`;
}
