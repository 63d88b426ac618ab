import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpScene, httpScene, readyScene } from './http-scene.js';

describe('status routes', () => {
  let scene: HttpScene;
  beforeAll(async () => {
    scene = await readyScene();
    await scene.acquire({ group: 'orders', messages: 3, bytes: 300 });
  });
  afterAll(() => scene.close());

  it('GET /v1/groups lists all groups with what this node does for them', async () => {
    const { status, body } = await scene.get('/v1/groups');
    expect(status).toBe(200);
    const groups = body.groups as { group: string }[];
    expect(groups.map(({ group }) => group)).toEqual(['orders', 'blocked', 'slow', 'free']);
    expect(body.next).toBeNull();
    expect(groups[0]).toMatchObject({
      strategy: 'max-min',
      publish: {
        quota: { messagesPerSecond: 1000, bytesPerSecond: 1_048_576 },
        served: true,
        share: { messagesPerSecond: 1000, bytesPerSecond: 1_048_576 },
      },
      dispatch: { quota: { messagesPerSecond: 50, bytesPerSecond: null }, served: false },
    });
  });

  it('GET /v1/groups/{group} shows every node', async () => {
    const { status, body } = await scene.get('/v1/groups/orders');
    expect(status).toBe(200);
    const { publish } = body.directions as Record<string, Record<string, unknown>>;
    expect(publish).toMatchObject({
      shareSum: { messagesPerSecond: 1000, bytesPerSecond: 1_048_576 },
      local: { served: true, link: 'linked', admittedMessages: 3, admittedBytes: 300, refusedMessages: 0 },
      nodes: [{ nodeId: 'a', self: true, share: { messagesPerSecond: 1000, bytesPerSecond: 1_048_576 } }],
    });
  });

  it('GET /v1/nodes shows this node, its members and its topic', async () => {
    const { status, body } = await scene.get('/v1/nodes');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      nodeId: 'a',
      incarnation: 1,
      phase: 'ready',
      ready: true,
      notReadyBecause: [],
      degraded: [],
      members: [{ nodeId: 'a', state: 'alive', self: true }],
      topic: { kind: 'memory', partitions: 1, lost: null },
    });
  });

  it('a group name with a slash is one path segment, percent-encoded, up to 200 characters', async () => {
    const name = `public/default:${'ä'.length}${'x'.repeat(180)}`;
    const other = await httpScene({ groups: { [name]: {} } });
    expect(await other.get(`/v1/groups/${encodeURIComponent(name)}`)).toMatchObject({
      status: 200,
      body: { group: name },
    });
    await other.close();
  });

  it('pages of 200 groups', async () => {
    const names = Array.from({ length: 450 }, (_, at) => `g${at}`);
    const many = await httpScene({ groups: Object.fromEntries(names.map((name) => [name, {}])) });
    const seen: string[] = [];
    for (let url: string | null = '/v1/groups'; url !== null; ) {
      const { body } = await many.get(url);
      const page = body.groups as { group: string }[];
      expect(page.length).toBeLessThanOrEqual(200);
      seen.push(...page.map(({ group }) => group));
      url = body.next === null ? null : `/v1/groups?after=${body.next}`;
    }
    expect(seen).toEqual(names);
    expect(await many.get('/v1/groups?after=nope')).toMatchObject({ status: 404 });
    await many.close();
  });
});

describe('health', () => {
  it('alive from the start; ready only while the node decides, with the reasons', async () => {
    const scene = await httpScene();
    expect(await scene.get('/livez')).toMatchObject({ status: 200, body: { alive: true } });
    const reasons = ['the groups are being read from the registry'];
    expect(await scene.get('/readyz')).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { code: 'NOT_READY', reasons, degraded: [] },
    });
    await scene.node.start();
    await scene.node.ready(10_000);
    expect(await scene.get('/readyz')).toMatchObject({ status: 200, body: { ready: true, degraded: [] } });
    await scene.node.close();
    expect(await scene.get('/readyz')).toMatchObject({ status: 503, body: { reasons: ['the node is stopping'] } });
    expect(await scene.get('/livez')).toMatchObject({ status: 200 });
    await scene.close();
  });

  it('a lost topic leaves the node ready, and is shown', async () => {
    const scene = await readyScene();
    scene.node.pump.inbox.onLost('broker gone');
    const { status, body } = await scene.get('/readyz');
    expect({ status, body }).toEqual({ status: 200, body: { ready: true, degraded: ['topic lost: broker gone'] } });
    scene.node.pump.inbox.onRecovered();
    expect(await scene.get('/readyz')).toMatchObject({ body: { degraded: [] } });
    await scene.close();
  });

  it('reports that wait for the budget are shown once they have waited for more than 5 s', async () => {
    const scene = await readyScene();
    const { coordinator, clock } = scene.node;
    const short = (forMs: number) => {
      Object.assign(coordinator?.reportBudget as object, { waiting: 40, shortSinceMs: clock() - forMs });
      return scene.node.status().degraded;
    };
    expect(short(4000)).toEqual([]);
    expect(short(7100)).toEqual([
      'reports wait: 40 are due, and timing.maxReportsPerSecond = 2000 has been too few for 7 s',
    ]);
    await scene.close();
  });

  it('who asks for groups that nobody uses numbers no lane, and serves none', async () => {
    const limit = { quota: { publish: { messagesPerSecond: 9 } }, ramp: { fromPerSecond: 1, overMs: 1000 } };
    const groups = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`g${at}`, limit]));
    const scene = await readyScene({ groups, metrics: { perGroup: 'all' } });
    const coordinator = scene.node.coordinator!;
    const counts = () => [coordinator.usageMap.laneCount, coordinator.lanes.size, scene.node.groups.size];
    const before = counts();
    for (const name of Object.keys(groups)) {
      for (const url of [`/v1/groups/${name}`, `/v1/groups/${name}/explain`, `/v1/live?group=${name}&count=100`]) {
        expect((await scene.get(url)).status, url).toBe(200);
      }
      for (const to of [name, `new-${name}`]) {
        const answer = await scene.ask('PUT', `/v1/groups/${to}?dryRun=true`, limit);
        expect(answer.body).toMatchObject({ dryRun: true });
      }
    }
    for (const url of ['/v1/groups', '/v1/nodes', '/v1/live', '/metrics']) {
      expect((await scene.get(url)).status, url).toBe(200);
    }
    expect(counts()).toEqual(before);
    await scene.close();
  });
});
