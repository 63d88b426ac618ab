import { describe, expect, test } from 'vitest';
import { incarnationCount, nodeKeyOf } from '../../../../src/core/base/ids.js';
import { OneNode } from '../machine/one-node.js';

const STALENESS_MS = 5000;
const HEARTBEAT_MS = 1000;

function keyOf(id: string): number {
  return nodeKeyOf('demo', id);
}

/** Ids whose node keys stand before or behind that of this node, in order of their keys. */
function idsBeside(node: OneNode, side: -1 | 1): string[] {
  return Array.from({ length: 50 }, (_, at) => `n-${at}`)
    .filter((id) => Math.sign(keyOf(id) - node.coordinator.nodeKey) === side)
    .sort((one, other) => keyOf(one) - keyOf(other));
}

/** This node beside others on two partitions; of `beating` nodes the membership partition hears every second. */
function scene(others: readonly string[], beating: readonly string[] = []) {
  const node = OneNode.ready({ partitions: 2, stalenessMs: STALENESS_MS, heartbeatMs: HEARTBEAT_MS });
  for (const partition of [0, 1]) node.read(...others.map((id) => node.by(id, 'node', { partition })));
  const farewells: { id: string; partition: number; afterMs: number }[] = [];
  const fromMs = node.nowMs;
  let beatMs = -Infinity;
  const run = (durationMs: number, isEchoed = true) =>
    node.run(durationMs, {
      echo: false,
      each: () => {
        for (const { record, partition } of node.sent) {
          if (record?.kind !== 'farewell') continue;
          farewells.push({ id: record.nodeId, partition, afterMs: node.nowMs - fromMs });
        }
        const said = node.lose();
        node.read(...said.filter(({ record }) => isEchoed || record?.kind !== 'farewell'));
        if (node.nowMs - beatMs < HEARTBEAT_MS) return;
        beatMs = node.nowMs;
        node.read(...beating.map((id) => node.by(id, 'node')));
      },
    });
  const aliveOn = (partition: number) => node.coordinator.membership.on(partition).members.map(({ nodeId }) => nodeId);
  return { node, run, farewells, aliveOn };
}

describe('a node that the membership partition counts as gone', () => {
  test('is said gone on the others, once, by the first of those that are alive', () => {
    const [gone = ''] = idsBeside(OneNode.ready(), 1);
    const { run, farewells, aliveOn } = scene([gone]);
    run(STALENESS_MS - HEARTBEAT_MS);
    expect(aliveOn(1)).toHaveLength(2);
    run(3 * STALENESS_MS);
    expect(farewells).toMatchObject([{ id: gone, partition: 1 }]);
    expect(farewells[0]?.afterMs).toBeLessThanOrEqual(STALENESS_MS + HEARTBEAT_MS + 500);
    expect(aliveOn(1)).toEqual(['own']);
  });

  test('is said gone by the next one a heartbeat later, and again if that is lost', () => {
    const [first = '', gone = ''] = [...idsBeside(OneNode.ready(), -1), ...idsBeside(OneNode.ready(), 1).reverse()];
    const { run, farewells } = scene([first, gone], [first]);
    run(STALENESS_MS + 4 * HEARTBEAT_MS, false);
    expect(farewells.length).toBeGreaterThanOrEqual(2);
    expect(farewells.every(({ id, partition }) => id === gone && partition === 1)).toBe(true);
    const [one, other] = farewells;
    expect(one?.afterMs).toBeGreaterThan(STALENESS_MS + HEARTBEAT_MS);
    expect(other!.afterMs - one!.afterMs).toBeGreaterThanOrEqual(HEARTBEAT_MS);
  });

  test('is waited for where the membership partition has not heard of its life yet', () => {
    const [joins = ''] = idsBeside(OneNode.ready(), 1);
    const { node, run, farewells } = scene([]);
    node.read(node.by(joins, 'node', { partition: 1 }));
    run(STALENESS_MS - 500);
    expect(farewells).toEqual([]);
    run(1000);
    expect(farewells).toMatchObject([{ id: joins, partition: 1 }]);
  });
});

describe('a node that is said gone and lives', () => {
  test.each([0, 1])(
    'is told of the life that ended by whoever remembers it on partition %i, and takes one above',
    (on) => {
      const { node } = scene([]);
      const lives: number[] = [];
      const tell = (kind: 'node' | 'farewell', life: number, partition: number) => {
        node.lose();
        node.read(node.by('n-1', kind, { life, partition }));
        for (const { record, partition: at } of node.sent)
          if (record?.kind === 'farewell' && at === on) lives.push(incarnationCount(record.author.incarnation));
      };
      tell('node', 2, on);
      tell('farewell', 2, on);
      // A process without the cluster's key has written over that: the next one of this id has found no life.
      tell('node', 1, on);
      expect(lives).toEqual([2]);
      tell('node', 3, on);
      tell('node', 2, on);
      expect(lives).toEqual([2]);
    },
  );

  test('says that it is there within 300 ms', () => {
    const { node, run, aliveOn } = scene([]);
    node.read(node.by('own', 'farewell', { partition: 1, nonce: node.settings.nonce }));
    expect(aliveOn(1)).toEqual([]);
    run(300);
    expect(aliveOn(1)).toEqual(['own']);
  });

  test('says nothing there while no partition counts it as alive', () => {
    const { node, run, aliveOn } = scene(['n-1'], ['n-1']);
    const author = { nonce: node.settings.nonce };
    node.read(node.by('own', 'farewell', { partition: 1, ...author }));
    const said: number[] = [];
    node.read(node.by('n-1', 'node'));
    // Its records reach the other partition alone.
    node.run(3 * STALENESS_MS, {
      echo: false,
      each: () => {
        said.push(...node.sent.filter(({ partition }) => partition === 1).map(() => node.nowMs));
        node.read(...node.lose().filter(({ partition }) => partition === 1), node.by('n-1', 'node'));
        if (aliveOn(1).includes('own') && !aliveOn(0).includes('own'))
          node.read(node.by('own', 'farewell', { partition: 1, ...author }));
      },
    });
    expect(aliveOn(0)).toEqual(['n-1']);
    const lastMs = said.at(-1) ?? Number.NaN;
    expect(node.nowMs - lastMs).toBeGreaterThan(STALENESS_MS);
    run(0);
  });
});
