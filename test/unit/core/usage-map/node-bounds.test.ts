import { describe, expect, test } from 'vitest';
import { INCARNATIONS_MAX, incarnationCount } from '../../../../src/core/base/ids.js';
import { OneNode } from '../machine/one-node.js';

/** The 48-bit keys of these ids are never looked at: only how many there are. */
const strangers = (count: number, prefix = 'x') => Array.from({ length: count }, (_, at) => `${prefix}-${at}`);

describe('node ids of a cluster are bounded (limits.maxNodes)', () => {
  test('records of further ids are refused: counted, told once, of no effect on shares', () => {
    const node = OneNode.ready({ maxNodes: 3 });
    node.read(...strangers(2).map((id) => node.by(id, 'node')));
    node.run(100);
    node.tryAcquire(0, 1);
    const before = node.coordinator.shares.applied[0];
    node.read(...strangers(50, 'y').map((id) => node.by(id, 'node')));
    node.read(node.by('y-1', 'farewell'));
    expect(node.coordinator.membership.alive.map(({ nodeId }) => nodeId).sort()).toEqual(['own', 'x-0', 'x-1']);
    expect(node.coordinator.shares.applied[0]).toBe(before);
    expect(node.coordinator.log.ignored['too-many-nodes']).toBe(51);
    expect(node.told('nodes-refused')).toEqual([{ kind: 'nodes-refused', nodeId: 'y-0' }]);
    // Those that are known go on.
    node.run(1000);
    expect(node.coordinator.isReady).toBe(true);
  });

  test('what a stranger writes on other partitions is bounded, too, and takes no room from members', () => {
    const node = OneNode.ready({ partitions: 2, maxNodes: 3 });
    node.read(...strangers(50).map((id) => node.report(id, [], { partition: 1 })));
    expect([...node.coordinator.membership.all()]).toHaveLength(6);
    node.read(node.by('a', 'node'), node.by('b', 'node'), node.by('c', 'node'));
    expect(node.coordinator.membership.alive).toHaveLength(3);
  });

  test('a node that finds no room never decides, and is in nobody’s way', () => {
    const node = new OneNode({ maxNodes: 2 });
    node.read(node.by('a', 'node'), node.by('b', 'node'));
    node.step({ kind: 'caught-up' });
    node.run(3000);
    expect(node.coordinator.phase).toBe('joining');
    expect(node.tryAcquire(0, 1)).toBe(false);
    expect(node.told('nodes-refused')).toEqual([{ kind: 'nodes-refused', nodeId: 'own' }]);
  });

  test('an id that was forgotten makes room, and its slot is used again', () => {
    const node = OneNode.ready({ maxNodes: 3, forgetAfterMs: 10_000 });
    for (let round = 0; round < 20; round++) {
      node.read(...strangers(2, `round-${round}`).map((id) => node.by(id, 'node')));
      node.run(20_000);
    }
    expect(node.coordinator.log.ignored['too-many-nodes']).toBe(0);
    const slots = [...node.coordinator.membership.all()].map(({ slot }) => slot);
    expect(Math.max(...slots)).toBeLessThan(3);
  });
});

describe('lives of one node id are bounded', () => {
  test('of 10,000 lives only the newest counts, and the keys that the log holds are remembered', () => {
    const node = OneNode.ready();
    for (let life = 1; life <= 10_000; life++) {
      node.read(node.by('other', 'node', { life }), node.report('other', [], { life, bundle: life % 7 }));
    }
    const other = [...node.coordinator.membership.all()].find(({ nodeId }) => nodeId === 'other');
    expect(other?.lives).toHaveLength(1);
    const lives = node.coordinator.usageMap.keysOf(other!).map(({ incarnation }) => incarnationCount(incarnation));
    expect(lives.sort()).toEqual([9994, 9995, 9996, 9997, 9998, 9999, 10_000].sort());
  });

  test('the last life that the wire format holds can be lived', () => {
    const node = new OneNode();
    node.read(node.by('own', 'node', { life: INCARNATIONS_MAX - 1 }));
    node.step({ kind: 'caught-up' });
    node.echo();
    expect(node.told('ready')).toEqual([{ kind: 'ready', members: 1, incarnation: INCARNATIONS_MAX }]);
  });

  test('an id whose last life somebody claims is given up loudly: the next one would be 0', () => {
    const node = new OneNode();
    node.read(node.by('own', 'node', { life: INCARNATIONS_MAX }));
    node.step({ kind: 'caught-up' });
    expect(node.told('fenced')).toEqual([{ kind: 'fenced', ownIncarnation: 0, newerIncarnation: INCARNATIONS_MAX }]);
    expect(node.lose()).toEqual([]);
  });
});
