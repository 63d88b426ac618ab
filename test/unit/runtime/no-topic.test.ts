import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import type { QuotaNode } from '../../../src/node/api/quota-node.js';
import { setNodeCount } from '../../../src/node/loop/parts-of.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

const GROUPS = {
  calls: { quota: { publish: { messagesPerSecond: 900 } } },
  weighted: { quota: { publish: { bytesPerSecond: '9MiB' } } },
};
const NODE = { cluster: 'pods', node: 'a', groups: GROUPS };

let scene: HttpScene;
beforeEach(async () => {
  scene = await readyScene({ ...NODE, topic: { kind: 'none', nodeCount: 3 } });
});
afterEach(() => scene.close());

/** Served first: who does not ask has no share. */
async function share(): Promise<unknown> {
  await scene.acquire({ group: 'calls', messages: 1 });
  return (await scene.get('/v1/groups/calls')).body;
}

const published = (messages: number) => ({ directions: { publish: { shareSum: { messagesPerSecond: messages } } } });

/** The name `groups` is another thing at a node of the tests (whole-node.ts); the function looks at neither. */
function countNodes({ node }: HttpScene, count: number): void {
  setNodeCount(node as unknown as QuotaNode, count);
}

describe('topic kind none', () => {
  it('gives a node quota / nodeCount, tells nobody, and takes changes for the cluster from nobody', async () => {
    expect(await share()).toMatchObject(published(300));
    expect(scene.node.status()).toMatchObject({
      topic: { kind: 'none' },
      pool: { size: 3, agreed: true },
      degraded: [],
    });
    expect((await scene.get('/v1/groups/calls/explain')).status).toBe(200);
    const change = { method: 'PUT', url: '/v1/groups/calls', payload: GROUPS.calls } as const;
    expect((await scene.app.inject(change)).json()).toMatchObject({ code: 'REGISTRY_OFF' });
  });

  it('two nodes of one name in one process know nothing of each other', async () => {
    const other = await readyScene({ ...NODE, node: 'b', topic: { kind: 'none', nodeCount: 3 } });
    expect(other.node.status().members).toHaveLength(1);
    await other.close();
  });

  it('another count is in force at once, from the library or from YAML; nothing needs a restart', async () => {
    countNodes(scene, 2);
    expect(await share()).toMatchObject(published(450));
    const raw = { ...NODE, topic: { kind: 'none', nodeCount: 9 } };
    scene.node.yaml.take(resolveConfig(raw, { source: 'node.yaml' }));
    expect(await share()).toMatchObject(published(100));
    expect(scene.node.status()).toMatchObject({ pool: { size: 9 }, degraded: [], configuration: { needsRestart: [] } });
  });

  it.each([0, -1, 1.5, Number.NaN, 10_001, '3'])('a count of %s is refused, and nothing changes', async (count) => {
    expect(() => countNodes(scene, count as number)).toThrow(/whole number from 1 to 10000/);
    expect(await share()).toMatchObject(published(300));
  });
});

it('a node with a topic is counted by the others', async () => {
  const shared = await readyScene();
  expect(() => countNodes(shared, 3)).toThrow(/topic kind memory count each other/);
  await shared.close();
});
