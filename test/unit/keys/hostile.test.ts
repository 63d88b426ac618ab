import { expect, test } from 'vitest';
import { deleteKeys, putKeys } from '../../../src/groups/changes/change-keys.js';
import type { WholeNode } from '../../whole-node.js';
import { type KeysCluster, PER_SECOND, withKeys } from './keys-cluster.js';

const BY = { name: 'test', how: 'library', requestId: '1', atMs: 0 };

async function done<Value>(time: KeysCluster['time'], change: Promise<Value>): Promise<Value> {
  change.catch(() => undefined);
  await time.advance(100);
  return change;
}

test('templates that come and go leave no counts behind, and those that are in force keep theirs', async () => {
  await withKeys(1, { 'key:{id}': PER_SECOND(10) }, async ({ nodes, time }) => {
    const [node] = nodes as [WholeNode];
    await time.advance(5000);
    node.tryAcquire('key:a', { messages: 1 });
    for (let at = 0; at < 20; at++) {
      const entry = { kind: 'template', name: `t${at}:{id}` } as const;
      await done(time, putKeys(node, entry, PER_SECOND(1), null, BY));
      node.tryAcquire(`t${at}:a`, { messages: 1 });
      await done(time, deleteKeys(node, entry, null, BY));
      expect(() => node.tryAcquire(`t${at}:a`, { messages: 1 })).toThrow(/group/);
    }
    // The last one goes with the next change.
    expect([...(node.keys?.counts.keys() ?? [])].length).toBeLessThanOrEqual(2);
    expect(node.keys?.counts.get('key:{id}')).toMatchObject({ made: 1 });
  });
});
