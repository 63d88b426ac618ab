import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EXPIRY_MS } from '../../../src/core/strict/constants.js';
import type { StrictQuota } from '../../../src/core/strict/strict-quota.js';
import { Child } from '../../../src/tools/processes/child.js';
import { CentralBucket } from '../central-bucket.js';
import type { MemberAnswer, MemberFacts } from './strict-member.js';

export interface LivePlan {
  readonly processes: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly depth: number;
  /** Requests, as a multiple of the quota. */
  readonly load: number;
  readonly waitMs: number;
}

export interface LiveVerdict {
  readonly asked: number;
  readonly granted: number;
  /** Tokens that flowed while requests were counted, with one depth. */
  readonly possible: number;
  /** Tokens above one central bucket, less what flows in 2 ms. */
  readonly over: number;
}

const MEMBER = fileURLToPath(new URL('./strict-member.js', import.meta.url));
const PER_MS = 3_600_000;
/** Milliseconds by which log and judge differ, of whole ones. */
const ROUNDED_MS = 2;
const READY_MS = 60_000;

/** Runs real processes on one bucket; one is frozen past the expiry and thawed, one is killed and comes back. */
export async function playLiveStrict(plan: LivePlan): Promise<LiveVerdict> {
  const path = await mkdtemp(join(tmpdir(), 'quotamesh-strict-'));
  const answers: MemberAnswer[] = [];
  const children: Child[] = [];
  const all: Child[] = [];
  const quota = { amount: (plan.perSecond * PER_MS) / 1000, perMs: PER_MS, depth: plan.depth };
  const start = async (at: number) => {
    const perSecond = (plan.perSecond * plan.load) / plan.processes;
    const facts: MemberFacts = { path, node: `n${at}`, quota, perSecond, waitMs: plan.waitMs };
    children[at] = await startMember(facts, answers, all);
  };
  try {
    await Promise.all(Array.from({ length: plan.processes }, (_, at) => start(at)));
    await trouble(children, plan, start);
    await Promise.all(children.filter(({ isRunning }) => isRunning).map((child) => stopped(child)));
    return judge(answers, quota);
  } finally {
    for (const child of all) child.signal('SIGKILL');
    await Promise.all(all.map(({ ended }) => ended));
    await rm(path, { recursive: true, force: true });
  }
}

async function startMember(facts: MemberFacts, answers: MemberAnswer[], all: Child[]): Promise<Child> {
  const child = new Child([MEMBER, JSON.stringify(facts)]);
  all.push(child);
  const ready = new Promise<void>((resolve, reject) => {
    child.onMessage((message) => {
      if (message === 'ready') resolve();
      else answers.push(message as MemberAnswer);
    });
    void child.ended.then(() => reject(new Error(`a process ended before it was ready:\n${child.logEnd()}`)));
  });
  await Promise.race([ready, sleep(READY_MS, undefined, { ref: false }).then(() => child.signal('SIGKILL'))]);
  await ready;
  return child;
}

async function trouble(children: readonly Child[], { seconds }: LivePlan, start: (at: number) => Promise<void>) {
  const quarterMs = (1000 * seconds) / 4;
  await sleep(quarterMs);
  const [frozen, killed] = children;
  frozen.signal('SIGSTOP');
  killed.signal('SIGKILL');
  await Promise.all([sleep(Math.max(quarterMs, EXPIRY_MS + 2000)), start(1)]);
  frozen.signal('SIGCONT');
  await sleep(2 * quarterMs);
}

async function stopped(child: Child): Promise<void> {
  child.send('stop');
  await child.ended;
}

function judge(answers: readonly MemberAnswer[], quota: StrictQuota): LiveVerdict {
  const times = answers.flatMap(({ granted }) => granted).sort((left, right) => left - right);
  const asked = answers.reduce((sum, each) => sum + each.asked, 0);
  const [firstMs = 0] = times;
  const lastMs = times[times.length - 1] ?? 0;
  const bucket = new CentralBucket(quota);
  let over = 0;
  for (const ms of times) over = Math.max(over, bucket.force(1, ms - firstMs));
  const flows = (ms: number) => (quota.amount * ms) / quota.perMs;
  const possible = quota.depth + flows(lastMs - firstMs);
  const rounded = over === 0 ? 0 : Math.max(0, over / quota.perMs - flows(ROUNDED_MS));
  return { asked, granted: times.length, possible, over: rounded };
}
