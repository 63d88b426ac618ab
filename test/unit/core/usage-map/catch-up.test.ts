import { expect, test } from 'vitest';
import { bundleKeyText, groupsOn, nodeKeyText, Reading } from './reading.js';

interface Log {
  readonly nodes: number;
  readonly keysPerNode: number;
  readonly partitions: number;
}

/** Partition by partition, as compaction leaves it. */
function read({ nodes, keysPerNode, partitions }: Log): { reading: Reading; records: number } {
  const reading = new Reading(partitions);
  let records = 0;
  for (let partition = 0; partition < partitions; partition++) {
    const groups = groupsOn(partition, partitions, Math.ceil(keysPerNode / partitions));
    for (let node = 0; node < nodes; node++) {
      reading.node(`n${node}`, { partition });
      records++;
      for (let bundle = partition; bundle < keysPerNode; bundle += partitions) {
        reading.report(`n${node}`, { [groups[Math.floor(bundle / partitions)]!]: 1 }, { partition, bundle });
        records++;
      }
    }
  }
  return { reading, records };
}

test('catching up looks at no key but those it reads: no step beside, however many nodes and partitions', () => {
  for (const log of [
    { nodes: 20, keysPerNode: 40, partitions: 1 },
    { nodes: 100, keysPerNode: 40, partitions: 16 },
  ]) {
    const { reading } = read(log);
    expect(reading.usageMap.entryCount).toBe(log.nodes * log.keysPerNode);
    expect(reading.usageMap.rows.count).toBe(log.nodes * log.keysPerNode);
    expect(reading.usageMap.steps).toBe(0);
  }
});

test('a restart, and a burial, cost the keys of that node alone, however many there are', () => {
  const costs = [10, 100].map((nodes) => {
    const [keysPerNode, partitions] = [32, 4];
    const { reading } = read({ nodes, keysPerNode, partitions });
    const { usageMap } = reading;
    const before = usageMap.steps;
    for (let partition = 0; partition < partitions; partition++) reading.node('n0', { partition, life: 2 });
    const restart = usageMap.steps - before;
    reading.farewell('n0', { life: 2 });
    for (let bundle = 0; bundle < keysPerNode; bundle++) {
      reading.tombstone(bundleKeyText('n0', bundle), { partition: bundle % partitions });
    }
    for (let partition = 0; partition < partitions; partition++) reading.tombstone(nodeKeyText('n0'), { partition });
    expect(usageMap.entryCount).toBe((nodes - 1) * keysPerNode);
    return { restart, burial: usageMap.steps - before - restart };
  });
  expect(costs[1]).toEqual(costs[0]);
  expect(costs[0]?.restart).toBeLessThanOrEqual(2 * 32);
  expect(costs[0]?.burial).toBeLessThanOrEqual(2 * 32);
});
