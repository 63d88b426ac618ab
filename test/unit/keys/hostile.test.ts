import { expect, test } from 'vitest';
import { deleteKeys, patchKeys, putKeys } from '../../../src/node/groups/changes/change-keys.js';
import { BY_TEST } from '../../integration/changed-by.js';
import type { WholeNode } from '../../whole-node.js';
import { done, PER_MINUTE, PER_SECOND, withKeys } from './keys-cluster.js';

test('templates that come and go leave no counts behind, and those that are in force keep theirs', async () => {
  await withKeys(1, { 'key:{id}': PER_SECOND(10) }, async ({ nodes, time }) => {
    const [node] = nodes as [WholeNode];
    await time.advance(5000);
    node.tryAcquire('key:a', { messages: 1 });
    for (let at = 0; at < 20; at++) {
      const entry = { kind: 'template', name: `t${at}:{id}` } as const;
      await done(time, putKeys(node, entry, PER_SECOND(1), null, BY_TEST));
      node.tryAcquire(`t${at}:a`, { messages: 1 });
      await done(time, deleteKeys(node, entry, null, BY_TEST));
      expect(() => node.tryAcquire(`t${at}:a`, { messages: 1 })).toThrow(/group/);
    }
    // They go when the last key is forgotten.
    await time.advance(20_000);
    expect([...(node.keys?.counts.keys() ?? [])]).toEqual(['key:{id}']);
    expect(node.keys?.counts.get('key:{id}')).toMatchObject({ made: 1 });
  });
});

test('a template that is removed and put back gives no key another bucket', async () => {
  await withKeys(2, {}, async ({ nodes, time }) => {
    const [node] = nodes as [WholeNode];
    const entry = { kind: 'template', name: 'run:{id}' } as const;
    await done(time, putKeys(node, entry, PER_MINUTE(60), null, BY_TEST));
    await time.advance(120_000);
    let granted = 0;
    const ask = (key: string, messages: number) => {
      if (node.tryAcquire(key, { messages }).granted) granted += messages;
    };
    for (let round = 0; round < 5; round++) {
      // One stays silent, the other one is loud from the second request on.
      ask('run:silent', 25);
      for (let asked = 0; asked < 200; asked++) ask('run:loud', 1);
      await done(time, deleteKeys(node, entry, null, BY_TEST));
      for (const key of ['run:silent', 'run:loud']) expect(() => ask(key, 1)).toThrow(/not configured/);
      await done(time, putKeys(node, entry, PER_MINUTE(60), null, BY_TEST));
    }
    // A bucket each, and what came in within 2 s; two requests of 25 fit into one.
    expect(granted).toBeLessThanOrEqual(2 * 60 + 4);
    expect(granted).toBeGreaterThanOrEqual(50 + 50);
  });
});

test('__proto__ in a patch is a word like any other', async () => {
  await withKeys(1, { 'key:{id}': PER_SECOND(10) }, async ({ nodes, time }) => {
    const [node] = nodes as [WholeNode];
    const entry = { kind: 'template', name: 'run:{id}' } as const;
    await done(time, putKeys(node, entry, PER_MINUTE(60), null, BY_TEST));
    const patch = (text: string) => done(time, patchKeys(node, entry, JSON.parse(text), null, BY_TEST));
    const one = '{"quota":{"publish":{"messagesPerSecond":"1/min"}}}';
    await expect(patch(`{"__proto__":${one}}`)).rejects.toThrow('__proto__ is not a known key');
    await expect(patch(`{"quota":{"__proto__":{"messagesPerSecond":"1/min"}}}`)).rejects.toThrow(
      'quota.__proto__ is not',
    );
    await expect(patch(`{"constructor":${one}}`)).rejects.toThrow('constructor is not a known key');
    const { definition } = await patch(`{"overrides":{"__proto__":${one},"constructor":${one}}}`);
    expect(Object.keys((definition as { overrides: object }).overrides)).toEqual(['__proto__', 'constructor']);
    await time.advance(120_000);
    const granted = ['__proto__', 'constructor', 'other'].map((id) => {
      return [1, 1].filter((messages) => node.tryAcquire(`run:${id}`, { messages }).granted).length;
    });
    expect(granted).toEqual([1, 1, 2]);
    expect(({} as { quota?: unknown }).quota).toBe(undefined);
  });
});
