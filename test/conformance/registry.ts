import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveConfig } from '../../src/config/read/resolve-config.js';
import { putGroup } from '../../src/node/groups/changes/change-group.js';
import { assemblyOf } from '../../src/node/loop/start-node.js';
import { BY_TEST } from '../integration/changed-by.js';
import { partOf } from '../property/seed.js';
import { answerOf, type HttpScene, sceneOf } from '../unit/http/http-scene.js';
import { WholeNode } from '../whole-node.js';
import { RecordingListener } from './recording-listener.js';
import type { TopicWorld } from './topic-scene.js';

const GROUPS = 20;
const PAGE_MS = 30_000;

/**
 * The registry on an adapter, with the offsets that this one gives: revisions are exact, given once and rising, fit for
 * If-Match; the trail is complete at every node, also at one that comes later; nothing piles up in the log.
 */
export function registryConformance(name: string, makeWorld: () => Promise<TopicWorld>, changes = partOf(300)): void {
  describe(`registry: ${name}`, () => {
    let world: TopicWorld;
    const scenes: HttpScene[] = [];
    const open = async (node: string) => {
      const scene = await sceneOf(async (telemetry) => {
        const raw = { cluster: 'c', node, topic: { kind: 'none', nodeCount: 3 }, groups: {} };
        const assembly = await assemblyOf(
          resolveConfig(raw, { source: '(test)', constants: { registry: BOUNDS } }),
          telemetry,
        );
        return new WholeNode({ ...assembly, registryTopic: world.makeTopic() });
      });
      scenes.push(scene);
      await scene.node.start();
      await scene.node.ready(PAGE_MS);
      return scene;
    };
    beforeEach(async () => {
      world = await makeWorld();
    });
    afterEach(async () => {
      await Promise.all(scenes.splice(0).map((scene) => scene.close()));
      await world.dispose();
    });

    it(`keeps ${changes} changes apart: one revision each, and each in the trail of all nodes`, async () => {
      const nodes = [await open('a'), await open('b')] as const;
      const given: number[] = [];
      const changeOne = async (group: number) => {
        let before = 0;
        for (let at = group; at < changes; at += GROUPS) {
          const { node } = nodes[at % 2];
          // Sees its own change of before: the other node may not have read it yet, but the log has.
          const made = await putGroup(node, `group-${group}`, quota(at + 1), before, BY_TEST);
          expect(made.revision).toBeGreaterThan(before);
          before = made.revision;
          given.push(before);
        }
      };
      await Promise.all(Array.from({ length: GROUPS }, (_, group) => changeOne(group)));
      expect(given.filter((revision) => !Number.isSafeInteger(revision))).toEqual([]);
      const expected = [...given].sort((one, other) => one - other);
      expect(new Set(given).size).toBe(changes);
      await world.compact?.();
      for (const scene of [...nodes, await open('newcomer')]) {
        await expect.poll(async () => (await trailOf(scene)).length, { timeout: PAGE_MS }).toBe(changes);
        expect(await trailOf(scene)).toEqual(expected);
        expect(scene.node.registry?.ignored).toBe(0);
      }
      const kinds = () => keysIn(world).then((keys) => [...new Set(keys.map((key) => key.split('/')[1]))].sort());
      await expect.poll(kinds, { timeout: PAGE_MS }).toEqual(['audit', 'epoch', 'group']);
    });

    it('takes back as If-Match what it gave as ETag, and refuses the one before', async () => {
      const scenes = [await open('a'), await open('b')];
      let etag = '';
      for (let at = 0; at < 10; at++) {
        const { app } = scenes[at % 2];
        const put = (match: Record<string, string>) =>
          answerOf(app, { method: 'PUT', url: '/v1/groups/orders', payload: quota(at), headers: match });
        const isRead = async () =>
          (await answerOf(app, { method: 'GET', url: '/v1/groups/orders/definition' })).headers.etag;
        if (at > 0) await expect.poll(isRead, { timeout: PAGE_MS }).toBe(etag);
        const made = await put(at === 0 ? { 'if-none-match': '*' } : { 'if-match': etag });
        expect(made.status).toBe(at === 0 ? 201 : 200);
        if (at > 0) expect((await put({ 'if-match': etag })).status).toBe(412);
        etag = String(made.headers.etag);
        expect(etag).toBe(`"${made.body.revision}"`);
        const { status, body } = await answerOf(app, { method: 'GET', url: `/v1/audit?after=${made.body.revision}` });
        expect([status, body.changes]).toEqual([200, []]);
      }
    });
  });
}

const BOUNDS = { changesPerSecond: 10_000, auditedChanges: 10_000 };

const quota = (messagesPerSecond: number) => ({ quota: { publish: { messagesPerSecond } } });

/** Revisions, page by page as a client reads them. */
async function trailOf({ app }: HttpScene): Promise<number[]> {
  const revisions: number[] = [];
  for (let after: string | null = '0'; after !== null; ) {
    const { body } = await answerOf(app, { method: 'GET', url: `/v1/audit?after=${encodeURIComponent(after)}` });
    revisions.push(...(body.changes as { revision: number }[]).map(({ revision }) => revision));
    after = body.next as string | null;
  }
  return revisions;
}

/** Keys that a newcomer finds with a value. */
async function keysIn(world: TopicWorld): Promise<string[]> {
  const topic = world.makeTopic();
  const listener = new RecordingListener();
  await topic.open(listener);
  await listener.until('caught up', () => listener.caughtUpAfter.length > 0, PAGE_MS);
  await topic.close();
  return [...listener.newest].flatMap(([key, value]) => (value === null ? [] : [key]));
}
