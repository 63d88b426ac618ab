import { expect, it } from 'vitest';
import { playSeeds } from '../../../sim/swarm/play-seeds.js';

/** Two threads begin with four each; one comes back for the last one. */
const FIRST = 8169;
const COUNT = 9;
/** Is asked for by threads that play. */
const NONE = null as never;

/** Answers as the swarm's thread does, and plays nothing: two of those would compile all of the core for nine seeds. */
const THREAD = `import { parentPort } from 'node:worker_threads';
parentPort.on('message', ({ first, count }) => {
  for (let at = 0; at < count; at++) parentPort.postMessage({ seed: first + at });
});`;

it('plays each seed once, however the threads take turns', async () => {
  const seeds: number[] = [];
  const onVerdict = ({ seed }: { readonly seed: number }) => seeds.push(seed) > 0;
  const thread = new URL(`data:text/javascript,${encodeURIComponent(THREAD)}`);
  await playSeeds({ first: FIRST, count: COUNT, workers: 2, settings: NONE, onVerdict, thread });
  expect(seeds.sort((one, other) => one - other)).toEqual(Array.from({ length: COUNT }, (_, at) => FIRST + at));
});

it('rejects when a thread dies, instead of ending with the seeds that the others have played', async () => {
  const played = playSeeds({ first: 1, count: 20, workers: 2, settings: NONE, onVerdict: () => true });
  await expect(played).rejects.toThrow(TypeError);
});
