import { Worker } from 'node:worker_threads';
import type { SwarmVerdict } from './run-swarm.js';
import type { SeedRange } from './swarm-thread.js';

interface SeedPlan extends SeedRange {
  readonly workers: number;
  /** Called per seed, in any order; false = begin no more. */
  readonly onVerdict: (verdict: SwarmVerdict) => boolean;
  /** Plays a range of seeds: the module of a thread. */
  readonly thread?: URL;
}

const SWARM_THREAD = new URL('./swarm-thread.js', import.meta.url);

/** Seeds per message: few, to end together, or within half a second. */
const SEEDS_AT_ONCE = 4;

/** Plays seeds on threads. Rejects when one cannot go on. */
export async function playSeeds(plan: SeedPlan): Promise<void> {
  let next = plan.first;
  const end = plan.first + plan.count;
  let isWanted = true;
  const takeRange = (): SeedRange | null => {
    if (!isWanted || next >= end) return null;
    const count = Math.min(SEEDS_AT_ONCE, end - next);
    next += count;
    return { first: next - count, count, settings: plan.settings };
  };
  const onVerdict = (verdict: SwarmVerdict) => {
    isWanted = plan.onVerdict(verdict) && isWanted;
  };
  const stop = (error: unknown) => {
    isWanted = false;
    throw error;
  };
  await Promise.all(Array.from({ length: plan.workers }, () => runThread(plan, takeRange, onVerdict).catch(stop)));
}

async function runThread(
  { thread: file = SWARM_THREAD }: SeedPlan,
  takeRange: () => SeedRange | null,
  onVerdict: (verdict: SwarmVerdict) => void,
): Promise<void> {
  const first = takeRange();
  if (first === null) return;
  const thread = new Worker(file);
  await new Promise<void>((resolve, reject) => {
    let left = first.count;
    thread.on('message', (verdict: SwarmVerdict) => {
      onVerdict(verdict);
      if (--left > 0) return;
      const range = takeRange();
      if (range === null) resolve();
      else {
        left = range.count;
        thread.postMessage(range);
      }
    });
    thread.once('error', reject);
    thread.once('exit', (code) => reject(new Error(`a thread of the swarm has ended with code ${code}`)));
    thread.postMessage(first);
  }).finally(() => thread.terminate());
}
