import { parentPort } from 'node:worker_threads';
import type { WorldSettings } from '../cluster/world.js';
import { playSeed } from './play-seed.js';

/** Seeds to play in order. */
export interface SeedRange {
  readonly first: number;
  readonly count: number;
  readonly settings: WorldSettings;
}

parentPort?.on('message', async ({ first, count, settings }: SeedRange) => {
  for (let at = 0; at < count; at++) {
    parentPort?.postMessage(await playSeed((first + at) >>> 0, settings));
  }
});
