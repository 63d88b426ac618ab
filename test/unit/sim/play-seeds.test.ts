import { expect, it } from 'vitest';
import { defaultSettings } from '../../../sim/scenario/world-settings.js';
import { playSeeds } from '../../../sim/swarm/play-seeds.js';

/** Two threads begin with four each; one comes back for the last one. The seeds are cheap ones: any would do. */
const FIRST = 8169;
const COUNT = 9;

it('plays each seed once, however the threads take turns', async () => {
  const seeds: number[] = [];
  const onVerdict = ({ seed }: { readonly seed: number }) => seeds.push(seed) > 0;
  await playSeeds({ first: FIRST, count: COUNT, workers: 2, settings: defaultSettings(), onVerdict });
  expect(seeds.sort((one, other) => one - other)).toEqual(Array.from({ length: COUNT }, (_, at) => FIRST + at));
});

it('rejects when a thread dies, instead of ending with the seeds that the others have played', async () => {
  const played = playSeeds({ first: 1, count: 20, workers: 2, settings: null as never, onVerdict: () => true });
  await expect(played).rejects.toThrow(TypeError);
});
