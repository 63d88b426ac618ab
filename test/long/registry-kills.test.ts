import { expect, it } from 'vitest';
import { Cluster } from '../cluster/cluster.js';
import { killWriter } from '../cluster/registry-kills.js';

const KILLS = 500;
const IDS = ['a', 'b', 'c'];

it(`kill -9 in the middle of changes, ${KILLS} times: what was answered is never lost, the rest is whole or absent`, async () => {
  const cluster = await Cluster.create({ topic: 'embedded' });
  try {
    await cluster.start(...IDS);
    const { answered, broken } = await killWriter(cluster, IDS, KILLS);
    expect(broken).toEqual([]);
    expect(answered).toBeGreaterThan(KILLS);
  } finally {
    await cluster.stop();
  }
}, 3_600_000);
