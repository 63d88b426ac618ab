import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, test, vi } from 'vitest';
import type { z } from 'zod';
import { EXPLANATION, GROUP_ANSWER } from '../../../src/doors/http/route/answer-schemas.js';
import type { GroupExplanation } from '../../../src/node/api/group-explanation.js';
import type { GroupStatus } from '../../../src/node/api/node-status.js';
import { describeGroup } from '../../../src/node/status/describe-node.js';
import { explanationText } from '../../../src/tools/cli/look/explanation-text.js';
import { topRows } from '../../../src/tools/cli/look/top-rows.js';
import { type KeysCluster, withKeys } from '../keys/keys-cluster.js';
import { type HttpScene, readyScene } from './http-scene.js';

/** One token in 100 s, so that what is in the bucket does not depend on how fast the machine is. */
const SHARED = {
  quota: { publish: { messagesPerSecond: 0.01 } },
  burst: { messages: 3, start: 'empty' },
};
const BUSY = { quota: { publish: { messagesPerSecond: 1000 } }, burst: { messages: 100 } };
const PIECES = { quota: { publish: { messagesPerSecond: 2 } }, burst: 2 };
const GATED = { topics: 'even', quota: { publish: { messagesPerSecond: 1000 } } };

describe('a group that has a bucket', () => {
  let scene: HttpScene;
  beforeAll(async () => {
    scene = await readyScene({
      groups: { small: SHARED, busy: BUSY, gates: GATED, pieces: PIECES },
      metrics: { perGroup: 'all' },
    });
    for (const group of ['small', 'busy', 'gates']) await scene.acquire({ group, messages: 1 });
  });
  afterAll(() => scene.close());

  const statusOf = async (group: string) => (await scene.get(`/v1/groups/${group}`)).body as unknown as GroupStatus;
  const explanationOf = async (group: string) =>
    (await scene.get(`/v1/groups/${group}/explain`)).body as unknown as GroupExplanation;

  it('has the bucket in its status, by its schema; the other direction and groups with gates have none', async () => {
    const status = await statusOf('small');
    expect(parsed(GROUP_ANSWER, status)).toEqual(status);
    expect(status.directions.publish.clusterBucket).toMatchObject({
      messages: { depth: 3, setPoint: 0.01, expectedPerSecond: 0, inPieces: true, throttled: false },
      bytes: null,
    });
    expect(status.directions.dispatch.clusterBucket).toBeNull();
    expect((await statusOf('gates')).directions.publish.clusterBucket).toBeNull();
  });

  it('a node that has just begun takes it for empty where that is configured, and says when a piece passes', async () => {
    const { messages } = (await statusOf('small')).directions.publish.clusterBucket!;
    expect(messages!.tokens).toBeGreaterThanOrEqual(0);
    expect(messages!.tokens).toBeLessThan(1);
    expect(messages!.takeable).toBeLessThan(1);
    expect(messages!.passesInMs).toBeGreaterThan(90_000);
    expect(messages!.passesInMs).toBeLessThanOrEqual(100_000);
    const refused = await scene.acquire({ group: 'small', messages: 1 });
    expect(refused).toMatchObject({ status: 429 });
    // q is the quota per 100 s; nothing is in the bucket.
    expect(refused.headers.ratelimit).toMatch(/^"small-publish-messages";r=0;t=\d+$/);
  });

  it('is explained step by step, and in place of the steps of a share', async () => {
    const explained = await explanationOf('small');
    expect(parsed(EXPLANATION, explained)).toEqual(explained);
    const [publish = ''] = explanationText(explained).split('\n\n');
    expect(publish).toMatch(/^ {2}cluster's bucket +0\.\d+ of 3 messages$/m);
    expect(publish).toMatch(/^ {2}set point +0.01 messages; correction in force /m);
    expect(publish).toMatch(/^ {2}expected +nothing: in pieces, each admission of messages is published at once$/m);
    expect(publish).toMatch(
      /^ {2}may take +\S+ messages now: whole pieces, the least recent user first; a piece passes in /m,
    );
    expect(publish).not.toMatch(/^ {2}gate /m);
    expect(explanationText(await explanationOf('gates'))).toMatch(
      /^ {2}gate +each node on its own share, for topics$/m,
    );
  });

  it('a grant tells what is in the bucket, and when it would be full', async () => {
    await sleep(300);
    const answer = await scene.acquire({ group: 'busy', messages: 60 });
    expect(answer.status).toBe(200);
    expect(answer.headers.ratelimit).toMatch(/^"busy-publish-messages";r=\d+;t=\d+$/);
    const { clusterBucket } = (await statusOf('busy')).directions.publish;
    expect(clusterBucket!.messages).toMatchObject({ depth: 100, setPoint: 35, inPieces: false });
    expect(explanationText(await explanationOf('busy'))).toMatch(
      /expected +\S+ messages\/s of all, \S+ messages\/s here/,
    );
  });

  it('shows what remains of a sum of floats as nothing', async () => {
    const explained = structuredClone(await explanationOf('busy'));
    const { messages } = explained.directions.publish.clusterBucket!;
    Object.assign(messages!, { unread: -3.6e-15 });
    expect(explanationText(explained)).toMatch(/^ {2}unread +0 messages /m);
  });

  it('says who took from it', async () => {
    const ask = async () =>
      expect(await scene.acquire({ group: 'pieces', messages: 6 })).toMatchObject({ status: 200 });
    await vi.waitFor(ask, 5000);
    await vi.waitFor(async () => {
      const { charged } = (await statusOf('pieces')).directions.publish.clusterBucket!.messages!;
      expect(charged).toEqual([{ nodeId: scene.node.nodeId, units: expect.closeTo(6, 0) }]);
    }, 5000);
    expect(explanationText(await explanationOf('pieces'))).toMatch(
      /charged +messages beyond what was expected: \S+ \d/m,
    );
  });

  it('has series of all that explain shows; one with gates has none', async () => {
    const text = await scene.metrics.text();
    expect(text).toMatch(/^quotamesh_group_cluster_depth_messages\{group="small",direction="publish"\} 3$/m);
    expect(text).toMatch(/^quotamesh_group_cluster_tokens_messages\{group="small",direction="publish"\} 0\.\d+$/m);
    const busy = (name: string, value: string) =>
      expect(text).toMatch(new RegExp(`^quotamesh_group_${name}\\{group="busy",direction="publish"\\} ${value}$`, 'm'));
    busy('cluster_set_point_messages', '35');
    busy('cluster_correction_messages_per_second', '-?\\d+(\\.\\d+)?');
    busy('charge_messages', '-?\\d+(\\.\\d+)?');
    expect(text).not.toMatch(/^quotamesh_group_charge_\w+\{group="gates"/m);
    expect(text).not.toMatch(/^quotamesh_group_cluster_\w+\{group="gates"/m);
    expect(text).not.toMatch(/^quotamesh_group_cluster_tokens_bytes\{/m);
  });
});

/** In virtual time: what a report says of a moment depends on when it is made. */
test('a throttled node that took a burst when it reported is shown as throttled', async () => {
  const story = async ({ nodes: [node], time }: KeysCluster) => {
    const status = () => describeGroup(node, node.groups.numbers.get('busy')!);
    node.tryAcquire('busy', { messages: 1 });
    await time.advance(2000);
    expect(status().directions.publish.clusterBucket!.messages!.takeable).toBeGreaterThan(90);
    for (let at = 0; at < 900; at++) node.tryAcquire('busy', { messages: 1 });
    await time.advance(100);
    const [self] = status().directions.publish.nodes;
    expect(self.demand.messagesPerSecond).toBeGreaterThan(2000);
    expect(self.usage.messagesPerSecond).toBeLessThan(self.demand.messagesPerSecond!);
    expect(topRows([status()], 'group')[0].throttled).toBeGreaterThan(1000);
  };
  await withKeys(1, {}, story, undefined, { groups: { busy: BUSY } });
});

test('a whole burst of a small quota can be asked for at once', async () => {
  const quota = { publish: { messagesPerSecond: '5/min' } };
  const small = { quota };
  const scene = await readyScene({
    groups: { small, larger: { ...small, burst: 8 }, gates: { smoothingMs: 500, quota } },
  });
  const most = async (group: string) => {
    const { body } = await scene.acquire({ group, messages: 100 });
    return /above maxRequest (\d+)/.exec(String(body.detail))?.[1];
  };
  expect([await most('small'), await most('larger'), await most('gates')]).toEqual(['5', '8', '1']);
  await scene.close();
});

describe('top', () => {
  const CHARGED = [
    { nodeId: 'b', units: 7.25 },
    { nodeId: 'a', units: -2 },
  ];
  const DEBT = { tokens: -20, depth: 10, setPoint: 3, correctionPerSecond: -10, charged: CHARGED };
  const groupWith = (messages: object | null) => {
    const nodes = [{ nodeId: 'a', usage: RATE, demand: RATE }];
    const target = { messagesPerSecond: 10, bytesPerSecond: null };
    const publish = { target, nodes, clusterBucket: messages && { messages, bytes: null } };
    const dispatch = { target: { messagesPerSecond: null, bytesPerSecond: null }, nodes: [], clusterBucket: null };
    return { group: 'orders', directions: { publish, dispatch } } as unknown as GroupStatus;
  };

  it('shows level, depth, set point, correction, a debt as it is, and who took most', () => {
    const { charged: _, ...rest } = DEBT;
    const shown = { dimension: 'messages', ...rest, mostCharged: { nodeId: 'b', units: 7.25 } };
    expect(topRows([groupWith(DEBT)], 'group')).toMatchObject([shown]);
  });

  it('where everybody took less, nobody took most', () => {
    const less = { ...DEBT, charged: [{ nodeId: 'a', units: -2 }] };
    const rows = topRows([groupWith(less)], 'group');
    expect(rows.map(({ mostCharged }) => mostCharged)).toEqual([null]);
  });
});

const RATE = { messagesPerSecond: 5, bytesPerSecond: 0 };

function parsed({ content }: typeof GROUP_ANSWER | typeof EXPLANATION, answer: unknown): unknown {
  return (content['application/json'].schema as unknown as z.ZodType).parse(answer);
}
