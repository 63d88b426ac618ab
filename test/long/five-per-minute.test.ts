import { expect, test } from 'vitest';
import { playFivePerMinute } from '../cluster/tokens-story.js';

/** test/simulation/tokens/small-quotas.ts plays half an hour of it in virtual time. */
const LENGTH_MS = 120_000;

test('five per minute on three nodes that are asked three times a second: five per minute', async () => {
  const { seconds, perNode, lengthSeconds } = await playFivePerMinute('embedded', LENGTH_MS);
  console.log(
    `five per minute: ${perNode.join(' + ')} in ${lengthSeconds.toFixed(0)} s, after ${seconds.map((at) => at.toFixed(0)).join(', ')} s`,
  );
  const inOneBucket = 5 + (5 * lengthSeconds) / 60;
  expect(seconds.length).toBeLessThanOrEqual(inOneBucket + 2);
  expect(seconds.length).toBeGreaterThanOrEqual(Math.floor(0.97 * inOneBucket));
  // The bucket is full at the start: one bucket would give ten, the nodes two more.
  const inMinuteFrom = (from: number) => seconds.filter((at) => at >= from && at < from + 60).length;
  expect(Math.max(...seconds.map(inMinuteFrom))).toBeLessThanOrEqual(5 + 5 + 2);
});
