import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { admittedRate } from '../../sim/measure.js';
import { Cluster, type ClusterOptions, untilReady } from './cluster.js';
import { carriable, jainOf, median, now, percent, Story } from './story.js';
import { TrafficProcess } from './traffic.js';

const QUOTA = 1000;
/** Another process may keep the machine busy for some seconds: then the phase is measured again. A broken promise breaks every time. */
const AGAIN = { retry: 2 };

/**
 * What a cluster of three real node processes promises, told as one story on one topic: each phase begins where the one before ended.
 * Counts over ≥ 5 s are asserted; times are printed and asserted with a wide margin (bench:cluster measures them).
 */
export function clusterPromises(name: string, topicOf: () => Promise<ClusterOptions['topic']>): void {
  describe(`a cluster on the ${name} topic`, () => {
    let cluster: Cluster;
    let traffic: TrafficProcess;
    let story: Story;

    beforeAll(async () => {
      cluster = await Cluster.create({ topic: await topicOf(), quota: QUOTA });
      traffic = await TrafficProcess.start();
      story = new Story(cluster, traffic, QUOTA);
    });

    afterAll(async () => {
      traffic?.stop();
      await cluster?.stop();
    });

    function say(line: string): void {
      console.log(`[${name}] ${line}`);
    }

    test('start: the first full second after the first node is ready admits ≥ 95 % of min(quota, demand)', async () => {
      const nodes = await Promise.all(['a', 'b', 'c'].map((id) => cluster.spawn(id)));
      const fromMs = story.setRates({ a: 1050, b: 1050, c: 1050 });
      await Promise.all(nodes.map((node) => untilReady(node)));
      await sleep(1500);
      const { events } = await story.since(fromMs, 0, ['a', 'b', 'c']);
      const readyMs = Math.min(...events.filter(({ decided }) => decided).map(({ atMs }) => atMs));
      const first = admittedRate(events, readyMs, readyMs + 1000) / carriable(events, readyMs, readyMs + 1000, QUOTA);
      say(`first full second: ${percent(first)}; first node ready after ${(readyMs - fromMs).toFixed(0)} ms`);
      for (const { child, output } of nodes) expect(child.exitCode, output()).toBe(null);
      expect(first).toBeGreaterThanOrEqual(0.95);
    });

    test('80/20 with both wanting everything ends at equal shares', AGAIN, async () => {
      const { perNode, total, worstSecond } = await story.phase({ a: 1440, b: 360, c: 360 }, 6500, 1500);
      const fairness = jainOf([perNode.a ?? 0, perNode.b ?? 0, perNode.c ?? 0]);
      say(
        `80/20: ${shown(perNode)}, total ${percent(total / QUOTA)}, Jain ${fairness.toFixed(4)}, worst second ${percent(worstSecond)}`,
      );
      expect(fairness).toBeGreaterThanOrEqual(0.99);
      expect(Math.abs(total / QUOTA - 1)).toBeLessThanOrEqual(0.01);
      expect(worstSecond).toBeLessThanOrEqual(1.1);
    });

    test('2,000/s at one node and 20/s at the others: the busy one gets ≥ 98 % of what they leave', AGAIN, async () => {
      const { perNode, total, worstSecond } = await story.phase({ a: 2000, b: 20, c: 20 }, 6500, 1500);
      const left = QUOTA - (perNode.b ?? 0) - (perNode.c ?? 0);
      say(
        `2000/20/20: ${shown(perNode)}, total ${percent(total / QUOTA)}, busy ${percent((perNode.a ?? 0) / left)} of the rest, worst second ${percent(worstSecond)}`,
      );
      expect((perNode.a ?? 0) / left).toBeGreaterThanOrEqual(0.98);
      expect(Math.abs(total / QUOTA - 1)).toBeLessThanOrEqual(0.01);
      expect(worstSecond).toBeLessThanOrEqual(1.1);
    });

    test('demand moves from node to node: shares follow', AGAIN, async () => {
      const times: number[] = [];
      for (const busy of ['b', 'c', 'a']) {
        const rates = Object.fromEntries(['a', 'b', 'c'].map((id) => [id, id === busy ? 1500 : 20]));
        const wanted = Object.fromEntries(['a', 'b', 'c'].map((id) => [id, id === busy ? 960 : 20]));
        const { fromMs, toMs } = await story.phase(rates, 2200, 500);
        times.push(await story.settledAfterMs(fromMs, wanted, toMs));
      }
      say(`demand step, until shares stay within 5 %: ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`);
      expect(median(times)).toBeLessThanOrEqual(1000);
      expect(Math.max(...times)).toBeLessThanOrEqual(1500);
    });

    test('a joiner lifts no second over 1.10, and its clean leave frees its share', AGAIN, async () => {
      await story.phase({ a: 600, b: 600, c: 600 }, 1000, 0);
      await cluster.start('d');
      const joined = await story.phase({ a: 600, b: 600, c: 600, d: 600 }, 2200, 1000);
      say(`joined: ${shown(joined.perNode)}, worst second ${percent(joined.worstSecond)}`);
      expect(joined.worstSecond).toBeLessThanOrEqual(1.1);
      const leaveMs = now();
      cluster.node('d').child.kill('SIGTERM');
      expect(await cluster.node('d').exited).toBe(0);
      const exitMs = now() - leaveMs;
      const left = await story.phase({ a: 600, b: 600, c: 600 }, 2200, 1000);
      const third = QUOTA / 3;
      const freeMs = await story.settledAfterMs(leaveMs, { a: third, b: third, c: third }, left.toMs);
      say(
        `left: exit after ${exitMs.toFixed(0)} ms, share free after ${freeMs.toFixed(0)} ms, total ${percent(left.total / QUOTA)}`,
      );
      expect(freeMs).toBeLessThanOrEqual(1000);
    });

    test('a node killed with -9: the others have the whole quota within staleness + 1 s', AGAIN, async () => {
      const { exitCode, signalCode } = cluster.node('c').child;
      if (exitCode !== null || signalCode !== null) await cluster.start('c');
      await story.phase({ a: 700, b: 700, c: 700 }, 1000, 0);
      const killMs = now();
      cluster.node('c').child.kill('SIGKILL');
      await story.phase({ a: 700, b: 700 }, 7000, 0);
      const after = await story.phase({ a: 700, b: 700 }, 2000, 500);
      const wholeMs = await story.settledAfterMs(killMs, { a: QUOTA / 2, b: QUOTA / 2 }, after.toMs);
      say(
        `killed: whole quota after ${wholeMs.toFixed(0)} ms, total ${percent(after.total / QUOTA)}, worst second ${percent(after.worstSecond)}`,
      );
      // Promised: staleness + 1 s. The rest is for a machine that is busy with something else.
      expect(wholeMs).toBeLessThanOrEqual(8000);
      expect(after.total / QUOTA).toBeGreaterThanOrEqual(0.97);
      expect(after.worstSecond).toBeLessThanOrEqual(1.1);
    });
  });
}

function shown(perNode: Readonly<Record<string, number>>): string {
  return Object.entries(perNode)
    .map(([id, rate]) => `${id} ${rate.toFixed(0)}/s`)
    .join(', ');
}
