import { describe, expect, test } from 'vitest';
import { OneNode } from './one-node.js';

const OTHER_LANE = 1;

function busyNode(settings?: ConstructorParameters<typeof OneNode>[0]): OneNode {
  const node = OneNode.ready(settings);
  node.run(3000, { each: () => node.tryAcquire(0, 1) });
  return node;
}

describe('an event loop that slept', () => {
  test('admits nothing until a fresh own record is read back, and says so', () => {
    const node = busyNode();
    node.pass(10_000);
    expect(node.tryAcquire(0, 1)).toBe(false);
    node.step({ kind: 'round-elapsed' });
    expect(node.coordinator.phase).toBe('stalled');
    expect(node.told('stalled')).toEqual([{ kind: 'stalled', gapMs: 10_000 }]);
    expect(node.tryAcquire(0, 1)).toBe(false);
    node.pass(5);
    node.echo();
    expect(node.told('resumed')).toEqual([{ kind: 'resumed', afterMs: 5 }]);
    expect(node.tryAcquire(0, 1)).toBe(false);
    node.run(20);
    expect(node.tryAcquire(0, 1)).toBe(true);
  });

  test('echoes of records sent before it slept prove nothing', () => {
    const node = busyNode();
    node.run(1100, { echo: false });
    const old = node.lose();
    node.pass(10_000);
    node.read(...old);
    node.step({ kind: 'round-elapsed' });
    expect(node.coordinator.phase).toBe('stalled');
    expect(node.tryAcquire(0, 1)).toBe(false);
  });

  test('the first use of another lane does not confirm the shares of before', () => {
    const node = busyNode();
    node.pass(10_000);
    expect(node.tryAcquire(OTHER_LANE, 1)).toBe(false);
    expect(node.tryAcquire(0, 1)).toBe(false);
    node.step({ kind: 'round-elapsed' });
    expect(node.tryAcquire(0, 1)).toBe(false);
    expect(node.told('stalled')).toHaveLength(1);
  });

  test('all buckets are empty afterwards, also those of lanes used for the first time', () => {
    const node = busyNode();
    node.pass(10_000);
    node.step({ kind: 'round-elapsed' });
    node.echo();
    expect(node.tryAcquire(0, 1)).toBe(false);
    node.run(20);
    expect(node.coordinator.readyMs).toBe(14_000);
  });

  test('when the topic is away as well the isolation policy decides after a while', () => {
    const node = busyNode();
    node.pass(60_000);
    node.run(2900, { echo: false });
    expect(node.coordinator.phase).toBe('stalled');
    node.run(300, { echo: false });
    expect(node.coordinator.phase).toBe('ready');
    expect(node.told('isolated')).toHaveLength(1);
    expect(node.coordinator.shares.applied[0]).toBe(1000);
    expect([...node.coordinator.lanes.values()].map(({ link }) => link)).toEqual(['fallback']);
  });
});
