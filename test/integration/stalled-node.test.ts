import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Cluster } from '../cluster/cluster.js';
import { now, percent, Story } from '../cluster/story.js';
import { TrafficProcess } from '../cluster/traffic.js';
import { sharedKafka } from '../kafka/shared-kafka.js';

const QUOTA = 300;
const DEMAND = { a: 225, b: 225, c: 225 };

test('a node that slept for 10 s says so, decides nothing until it has caught up, and bursts nothing', async () => {
  // Not embedded: one frozen inside a commit would be an outage of the topic, and the others would hold their shares.
  const topic = { kind: 'kafka', brokers: await sharedKafka(), name: `stalled-${process.pid}` };
  const cluster = await Cluster.create({ topic, quota: QUOTA });
  const traffic = await TrafficProcess.start();
  const story = new Story(cluster, traffic, QUOTA);
  try {
    await cluster.start('a', 'b', 'c');
    await story.phase(DEMAND, 2000, 0);
    cluster.node('a').child.kill('SIGSTOP');
    await sleep(10_000);
    const asleep = await story.since(now() - 2000, 0, ['a', 'b', 'c']);
    const wokenMs = now();
    cluster.node('a').child.kill('SIGCONT');
    await sleep(6500);
    const { total, perNode, worstSecond } = await story.since(wokenMs, 1500, ['a', 'b', 'c']);
    const said = /this process slept.*/.exec(cluster.node('a').output())?.[0] ?? '';
    console.log(
      `[stall] the others took ${percent(asleep.total / QUOTA)} meanwhile; afterwards ${percent(total / QUOTA)}, ` +
        `a ${(perNode.a ?? 0).toFixed(0)}/s, worst second ${percent(worstSecond)}`,
    );
    expect(asleep.total / QUOTA).toBeGreaterThanOrEqual(0.95);
    expect(said).not.toBe('');
    expect(perNode.a).toBeGreaterThan(QUOTA / 4);
    expect(total / QUOTA).toBeLessThanOrEqual(1.05);
  } finally {
    traffic.stop();
    await cluster.stop();
  }
});
