import { describe, expect, test } from 'vitest';
import { groupIdOf } from '../../../src/core/base/ids.js';
import { LiveFeed } from '../../../src/node/feed/live-feed.js';
import { busiestKeys } from '../../../src/node/status/busiest-keys.js';
import { describeKey } from '../../../src/node/status/describe-key.js';
import { describeGroup } from '../../../src/node/status/describe-node.js';
import type { WholeNode } from '../../whole-node.js';
import { type KeysCluster, PER_SECOND, withKeys } from './keys-cluster.js';

const TEMPLATES = { 'key:{id}': PER_SECOND(10) };
const TICK_MS = 100;
const NAMED_WITHIN_MS = 10_000;
const CUSTOMERS = Array.from({ length: 40 }, (_, at) => `key:customer-${at}`);
const LIST = { order: 'heat', find: '', from: 0, count: 120, group: null } as const;

/** Messages per second that a customer asks for at all nodes together: the first ten too much, the others a fifth. */
function wantedOf(customer: number): number {
  return customer < 10 ? 20 : 2;
}

/** Customers ask any of the first three nodes, in turn; returns what each was granted. */
async function serve({ nodes, time }: KeysCluster, ms: number): Promise<number[]> {
  const due = CUSTOMERS.map((_, at) => at / CUSTOMERS.length);
  const granted = CUSTOMERS.map(() => 0);
  let next = 0;
  for (let passedMs = 0; passedMs < ms; passedMs += TICK_MS) {
    for (const [at, name] of CUSTOMERS.entries()) {
      for (due[at] += (wantedOf(at) * TICK_MS) / 1000; due[at] >= 1; due[at]--) {
        if (nodes[next++ % 3].tryAcquire(name, { messages: 1 }).granted) granted[at]++;
      }
    }
    await time.advance(TICK_MS);
  }
  return granted;
}

function listed(feed: LiveFeed): Map<string, { admitted: number; wanted: number }> {
  feed.tick([LIST]);
  const { rows } = JSON.parse(feed.framesOf(LIST).find(({ event }) => event === 'groups')!.json);
  return new Map(rows.map((row: { group: string }) => [row.group, row]));
}

describe('what a node tells of keys that others use', () => {
  test('one that serves nobody names forty customers within 10 s, with what they want and are admitted; so does a latecomer', async () => {
    await withKeys(4, TEMPLATES, async (cluster) => {
      const asked = cluster.nodes[3];
      const feed = new LiveFeed(asked);
      await serve(cluster, NAMED_WITHIN_MS);
      expect([...listed(feed).keys()].toSorted()).toEqual(CUSTOMERS.toSorted());
      expect(asked.keys?.counts.get('key:{id}')).toMatchObject({ live: 0, made: 0 });
      const before = await serve(cluster, 8000);
      const shown = listed(feed);
      for (const [at, name] of CUSTOMERS.entries()) {
        const { wanted, admitted } = shown.get(name)!;
        expect(wanted, name).toBeGreaterThan(0.6 * wantedOf(at));
        expect(wanted, name).toBeLessThan(1.4 * wantedOf(at));
        const served = before[at] / 8;
        expect(admitted, name).toBeGreaterThan(0.6 * served);
        expect(admitted, name).toBeLessThan(1.4 * served);
      }
      const busiest = (await busiestKeys(asked)).map(({ key }) => key);
      expect(busiest.slice(0, 10).toSorted()).toEqual(CUSTOMERS.slice(0, 10).toSorted());
      expect(busiest).toHaveLength(20);
      const silent = describeKey(asked, 'key:customer-30')!;
      expect(silent).toMatchObject({ used: false, silent: true, group: { group: 'key:customer-30' } });
      expect(silent.reports.publish.map(({ nodeId }) => nodeId).toSorted()).toEqual(['a', 'b', 'c']);
      const number = asked.gate.groupToShow('key:customer-30');
      expect(describeGroup(asked, number).directions.publish.local.served).toBe(false);
      expect(() => asked.gate.groupToExplain('key:customer-30')).toThrow('key:customer-30');
      // All have been told twice after 22 s, and the next time is half a minute away.
      await serve(cluster, 22_000 - NAMED_WITHIN_MS - 8000);
      const late = new LiveFeed(await cluster.join());
      await serve(cluster, NAMED_WITHIN_MS);
      expect([...listed(late).keys()].toSorted()).toEqual(CUSTOMERS.toSorted());
    });
  });

  test('keys that nobody uses any more are listed no longer, and their numbers are given to others', async () => {
    await withKeys(2, TEMPLATES, async ({ nodes, time }) => {
      const [user, asked] = nodes as [WholeNode, WholeNode];
      const numbered = new Set<number>();
      for (let round = 0; round < 4; round++) {
        for (let tick = 0; tick < 50; tick++) {
          for (let at = 0; at < 10; at++) user.tryAcquire(`key:${round}-${at}`, { messages: 1 });
          await time.advance(1000);
        }
        const shown = [...asked.keys!.shown()].filter(([name]) => name.startsWith(`key:${round}-`));
        expect(shown).toHaveLength(10);
        for (const [, number] of shown) numbered.add(number);
      }
      await time.advance(130_000);
      expect([...asked.keys!.shown()]).toEqual([]);
      expect(numbered.size).toBeLessThanOrEqual(30);
    });
  });

  test('names are not told where they are secrets', async () => {
    const secret = { 'key:{id}': PER_SECOND(10), publishNames: false };
    await withKeys(4, secret, async (cluster) => {
      await serve(cluster, NAMED_WITHIN_MS);
      const asked = cluster.nodes[3];
      expect([...asked.keys!.shown()]).toEqual([]);
      expect([...cluster.nodes[0].keys!.shown()].length).toBe(10);
      for (const value of cluster.values) expect(value.includes('customer')).toBe(false);
    });
  });

  test('a template that goes takes them along, and names of no template are not shown', async () => {
    await withKeys(
      2,
      [TEMPLATES, { 'key:{id}': PER_SECOND(10), 'own:{id}': PER_SECOND(10) }],
      async ({ nodes, time }) => {
        const [asked, user] = nodes as [WholeNode, WholeNode];
        for (let tick = 0; tick < 100; tick++) {
          for (const name of ['key:a', 'own:a']) user.tryAcquire(name, { messages: 1 });
          await time.advance(100);
        }
        expect([...asked.keys!.shown()].map(([name]) => name)).toEqual(['key:a']);
        const number = asked.keys!.numberShown('key:a')!;
        asked.keys!.use([]);
        expect([...asked.keys!.shown()]).toEqual([]);
        expect(asked.groups.isLive(number)).toBe(false);
      },
    );
  });

  test('a key whose name a group has is no key, at a node that uses it and at one that serves nobody', async () => {
    await withKeys(2, TEMPLATES, async ({ nodes, time }) => {
      const serveAlice = async (ticks = 100) => {
        for (let tick = 0; tick < ticks; tick++) {
          for (let at = 0; at < 4; at++) nodes[0].tryAcquire('key:alice', { messages: 1 });
          await time.advance(TICK_MS);
        }
      };
      const quotas = async () => {
        const listed = await Promise.all(nodes.map(busiestKeys));
        return listed.map((keys) => keys.map(({ group }) => group!.directions.publish.target.messagesPerSecond));
      };
      await serveAlice();
      expect(await quotas()).toEqual([[10], [10]]);
      for (const node of nodes) {
        const settings = node.keys!.kindOf('key:alice')!.settings;
        node.inForce.define({ ...settings, name: 'key:alice', quota: { ...settings.quota, publish: [5, Infinity] } });
      }
      expect(await quotas()).toEqual([[], []]);
      await serveAlice();
      expect(await quotas()).toEqual([[], []]);
      for (const node of nodes) node.inForce.remove('key:alice');
      // Names that have been told twice are told again half a minute later.
      await serveAlice(400);
      expect(await quotas()).toEqual([[10], [10]]);
    });
  });

  test('whoever tells names without end, or names that are not those of their ids, is listed up to a bound', async () => {
    await withKeys(
      1,
      { ...TEMPLATES },
      async ({ nodes: [asked], time }) => {
        const names = Array.from({ length: 1000 }, (_, at) => ({
          groupId: groupIdOf('keys', `key:${at}`),
          name: `key:${at}`,
        }));
        const lies = names.map(({ groupId, name }) => ({ groupId: groupId + 1, name }));
        const { keys } = asked.coordinator!.log;
        keys.takeNames = () => lies;
        await time.advance(100);
        expect([...asked.keys!.shown()]).toEqual([]);
        keys.takeNames = () => names;
        keys.has = () => true;
        await time.advance(100);
        expect([...asked.keys!.shown()]).toHaveLength(10);
      },
      undefined,
      { constants: { keys: { maxLoud: 100 } } },
    );
  });
});
