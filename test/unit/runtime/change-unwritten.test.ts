import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { putGroup } from '../../../src/node/groups/changes/change-group.js';
import { BY_TEST } from '../../integration/changed-by.js';
import type { WholeNode } from '../../whole-node.js';
import { withKeys } from '../keys/keys-cluster.js';

test('a change whose proposal could not be written says why it is not confirmed', async () => {
  await withKeys(1, {}, async ({ nodes, time }) => {
    const [node] = nodes as [WholeNode];
    const topic = node.registry?.topic as { append(records: unknown): Promise<void> };
    const append = topic.append.bind(topic);
    topic.append = () => Promise.reject(new Error('append to ./log timed out after 2000 ms'));
    const change = putGroup(node, 'orders', {}, null, BY_TEST);
    change.catch(() => undefined);
    await time.advance(500);
    topic.append = append;
    await time.advance(20_000);
    await expect(change).rejects.toThrow(/orders is not confirmed: append to \.\/log timed out after 2000 ms/);
    const later = putGroup(node, 'orders', {}, null, BY_TEST);
    await time.advance(500);
    await expect(later).resolves.toMatchObject({ group: 'orders' });
  });
});

test('a change that waits for its decision ends with the registry, and its timer with it', async () => {
  await withKeys(1, {}, async ({ nodes }) => {
    const [node] = nodes as [WholeNode];
    const { registry } = node;
    (registry?.topic as { append(records: unknown): Promise<void> }).append = () => new Promise(() => undefined);
    const outcomes: string[] = [];
    void putGroup(node, 'orders', {}, null, BY_TEST).catch(({ message }: Error) => outcomes.push(message));
    await registry?.close();
    await nextTurn();
    expect(outcomes).toEqual(['the change of group orders is not confirmed: this node ends']);
  });
});
