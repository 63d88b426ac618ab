import { expect, test } from 'vitest';
import { playLiveStrict } from '../../sim/strict/live/live-strict.js';

/** An idle machine uses 0.9: a process is frozen for 7 s and one is killed, and what they held is kept for 5 s. */
const LEAST_USED = 0.3;

test('four processes, one frozen past the expiry and one killed, grant nothing that one bucket would not', async () => {
  const plan = { processes: 4, seconds: 16, perSecond: 300, depth: 100, load: 1.3, waitMs: 100 };
  const { asked, granted, possible, over } = await playLiveStrict(plan);
  console.log(`strict: ${asked} asked, ${granted} of ${Math.floor(possible)} granted, ${over} over`);
  expect(over).toBe(0);
  expect(granted).toBeGreaterThan(LEAST_USED * possible);
}, 180_000);
