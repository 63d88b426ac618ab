import type { DrawOptions } from './draw-story.js';
import { drawStory } from './draw-story.js';
import { type Broken, playStory } from './play-story.js';
import type { Act, Story } from './story.js';

/** Verdict on a seed's story. */
export interface AccountVerdict {
  readonly broken: readonly Broken[];
  readonly story: Story;
}

export async function judgeAccount(seed: number, options?: DrawOptions): Promise<AccountVerdict> {
  const story = drawStory(seed, options);
  const { broken } = await playStory(story);
  return { broken, story };
}

export function describeStory({
  nodes,
  partitions,
  delays,
  sampleIntervalMs,
  buckets,
  acts,
}: Story): readonly string[] {
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
  const told = Object.entries(facts).map(
    ([name, value]) => `${name} ${typeof value === 'number' ? round(value) : value}`,
  );
  return `account: ${[act, ...told].join(', ')}`;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
