import { setTimeout as sleep } from 'node:timers/promises';
import type { StrictQuota } from '../../../src/core/strict/strict-quota.js';
import { WakingClock } from '../../../src/node/loop/waking-clock.js';
import { firstLife, StrictLog } from '../../../src/node/strict/strict-log.js';
import { EmbeddedTopic } from '../../../src/topic/embedded/embedded-topic.js';

/** Facts of one process: JSON in its first argument. */
export interface MemberFacts {
  readonly path: string;
  readonly node: string;
  readonly quota: StrictQuota;
  /** Requests per second of one token each. */
  readonly perSecond: number;
  readonly waitMs: number;
}

/** Sent every 100 ms: times of the machine's monotonic clock at which a token was granted, in milliseconds. */
export interface MemberAnswer {
  readonly granted: readonly number[];
  readonly asked: number;
}

const SENT_MS = 100;

await run(JSON.parse(process.argv[2]));

async function run({ path, node, quota, perSecond, waitMs }: MemberFacts): Promise<void> {
  const waking = new WakingClock();
  const topic = new EmbeddedTopic({ path, appendTimeoutMs: 2000 });
  const log = new StrictLog({
    createTopic: async () => topic,
    node,
    cluster: 'sim',
    life: firstLife(Date.now()),
    clock: waking.clock,
    look: () => waking.look(),
    telemetry: { log: () => {} },
  });
  const bucket = log.add('live', quota);
  await log.start();
  while (!bucket.isKnown) await sleep(SENT_MS);
  let granted: number[] = [];
  let asked = 0;
  let isStopped = false;
  process.on('message', () => {
    isStopped = true;
  });
  process.send?.('ready');
  const answering = setInterval(() => {
    process.send?.({ granted, asked } satisfies MemberAnswer);
    [granted, asked] = [[], 0];
  }, SENT_MS);
  const startedMs = performance.now();
  for (let due = 0; !isStopped; ) {
    const until = ((performance.now() - startedMs) / 1000) * perSecond;
    for (; due < until; due++) {
      asked++;
      void bucket.acquire(1, waitMs).then((isGranted) => isGranted && granted.push(machineMs()));
    }
    await sleep(2);
  }
  await log.close();
  clearInterval(answering);
  process.send?.({ granted, asked } satisfies MemberAnswer);
  process.disconnect();
}

/** All processes of a machine have this clock in common. */
function machineMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
