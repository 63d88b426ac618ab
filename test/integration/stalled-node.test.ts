import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { admittedRate } from '../../sim/cluster/measure.js';
import { epochNow } from '../../src/tools/load/epoch-now.js';
import { Cluster } from '../cluster/cluster.js';
import { percent, Story } from '../cluster/story.js';
import { TrafficProcess } from '../cluster/traffic.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

const QUOTA = 300;
const WINDOW_MS = 5000;
const DEMAND = { a: 225, b: 225, c: 225 };

test('a node that slept for 10 s says so, decides nothing until it has caught up, and bursts nothing', async () => {
  // Not embedded: one frozen inside a commit would be an outage of the topic, and the others would hold their shares.
  const topic = { kind: 'kafka', brokers: await sharedKafka(), name: `stalled-${process.pid}` };
  const cluster = await Cluster.create({ topic, quota: QUOTA });
  const traffic = new TrafficProcess();
  const story = new Story(cluster, traffic, QUOTA);
  try {
    await cluster.start('a', 'b', 'c');
    await story.phase(DEMAND, 2000, 0);
    cluster.node('a').child.signal('SIGSTOP');
    await sleep(10_000);
    const asleep = await story.since(epochNow() - 5000, 0, ['a', 'b', 'c']);
    const wokenMs = epochNow();
    cluster.node('a').child.signal('SIGCONT');
    await sleep(1500 + WINDOW_MS);
    const { events, total, perNode, asked, worstSecond } = await story.since(wokenMs, 1500, ['a', 'b', 'c']);
    const resumedMs = loggedMs(cluster.node('a').child.output, 'deciding again after the stall');
    const ofSleeper = events.filter(({ node, granted }) => node === 'a' && granted);
    const fromWaking = admittedRate(events, wokenMs, wokenMs + WINDOW_MS) / QUOTA;
    console.log(
      `[stall] the others took ${percent(asleep.total / QUOTA)} meanwhile; awake, 5 s had ${percent(fromWaking)}, ` +
        `afterwards ${percent(total / QUOTA)}, a ${(perNode.a ?? 0).toFixed(0)}/s, worst second ${percent(worstSecond)}`,
    );
    expect(asleep.total / asleep.carriable).toBeGreaterThanOrEqual(0.95);
    expect(loggedMs(cluster.node('a').child.output, 'this process slept')).toBeLessThanOrEqual(resumedMs);
    // What had come while it slept lay in its sockets, 225 requests a second of it.
    expect(ofSleeper.filter(({ atMs }) => atMs < resumedMs)).toEqual([]);
    expect(fromWaking).toBeLessThanOrEqual(1.05);
    expect((perNode.a ?? 0) / Math.min(QUOTA / 3, asked.a ?? 0)).toBeGreaterThan(0.75);
    expect(total / QUOTA).toBeLessThanOrEqual(1.05);
  } finally {
    traffic.stop();
    await cluster.stop();
  }
});

/** Epoch time of the first log line that begins so. */
function loggedMs(output: string, message: string): number {
  const line = output.split('\n').find((text) => text.includes(`"msg":"${message}`)) ?? '';
  expect(line, message).not.toBe('');
  return Date.parse(JSON.parse(line).time);
}
