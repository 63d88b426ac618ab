import { describeStory, judgeAccount } from '../account/judge-account.js';
import type { WorldSettings } from '../cluster/world.js';
import { runSwarm, type SwarmVerdict } from './run-swarm.js';

/** Plays both worlds of a seed: faults under load, and an account's story. */
export async function playSeed(seed: number, base: WorldSettings): Promise<SwarmVerdict> {
  const verdict = runSwarm(seed, base, 'by-seed');
  const { broken, story } = await judgeAccount(seed);
  if (broken.length === 0) return verdict;
  const problems = broken.map(({ promise, bucket, says }) => `${promise}: ${bucket}: ${says}`);
  return { ...verdict, plan: [...verdict.plan, ...describeStory(story)], problems: [...verdict.problems, ...problems] };
}
