import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { GroupHeat } from '../../../src/node/feed/group-heat.js';
import { LiveFeed, type LiveView } from '../../../src/node/feed/live-feed.js';
import { LANES_MAX, LiveHistory } from '../../../src/node/feed/live-history.js';
import { describeGroup } from '../../../src/node/status/describe-node.js';
import { type HttpScene, readyScene } from '../http/http-scene.js';

const VIEW: LiveView = { order: 'heat', find: '', from: 0, count: 100, group: null };
const HOT = 300;

describe('a feed', () => {
  let scene: HttpScene;
  beforeAll(async () => {
    const hot = { quota: { publish: { messagesPerSecond: 1000 } }, topics: 'even' };
    const names = Array.from({ length: HOT }, (_, at) => `g${String(at).padStart(3, '0')}`);
    const many = Object.fromEntries(names.map((name) => [name, hot]));
    const others = { bytes: { quota: { dispatch: { bytesPerSecond: 5000 } } }, free: {} };
    scene = await readyScene({ groups: { ...many, ...others } });
    while (hotLines().length <= LANES_MAX) {
      for (const [at, name] of names.entries()) scene.node.tryAcquire(name, { messages: 1 + (at % 9) });
      await sleep(20);
    }
  });
  afterAll(() => scene.close());

  function hotLines() {
    const heat = new GroupHeat(scene.node);
    heat.tick();
    return heat.byHeat.filter((lane) => heat.heatOf(lane) > 0);
  }

  function rowsOf(feed: LiveFeed, view: LiveView) {
    const frame = feed.framesOf(view).find(({ event }) => event === 'groups');
    return JSON.parse(frame?.json ?? '{}') as { total: number; found: number; rows: { group: string }[] };
  }

  test('lists a direction that has a quota, in its dimension; a group without any has one line', () => {
    const feed = new LiveFeed(scene.node);
    feed.tick([]);
    expect(rowsOf(feed, VIEW).total).toBe(HOT + 2);
    expect(rowsOf(feed, { ...VIEW, find: 'bytes' }).rows).toMatchObject([
      { group: 'bytes', direction: 'dispatch', dimension: 'bytes', quota: 5000 },
    ]);
    expect(rowsOf(feed, { ...VIEW, find: 'free' }).rows).toMatchObject([{ direction: 'publish', quota: null }]);
  });

  test('hottest first, or by name; a window of it', () => {
    const feed = new LiveFeed(scene.node);
    feed.tick([]);
    const heats = (rowsOf(feed, VIEW).rows as unknown as { wanted: number; quota: number }[]).map(
      ({ wanted, quota }) => wanted / quota,
    );
    expect(heats).toEqual([...heats].sort((one, other) => other - one));
    const { found, rows } = rowsOf(feed, { ...VIEW, order: 'name', find: 'g', from: 10, count: 3 });
    expect([found, rows.map(({ group }) => group)]).toEqual([HOT, ['g010', 'g011', 'g012']]);
  });

  test('a frame is made once a second, for all who look at the same; an equal one is not new', () => {
    const feed = new LiveFeed(scene.node);
    feed.tick([]);
    const [frame] = feed.framesOf({ ...VIEW, order: 'name', find: 'free' }).slice(1);
    expect(feed.framesOf({ ...VIEW, order: 'name', find: 'free' })[1]).toBe(frame);
    feed.tick([]);
    const [again] = feed.framesOf({ ...VIEW, order: 'name', find: 'free' }).slice(1);
    expect(again?.changedAtTick).toBe(frame?.changedAtTick);
    expect(again?.bytes).toBe(frame?.bytes);
  });

  test('a group is what GET /v1/groups/{group} says of it', async () => {
    const group = scene.node.groups.numbers.get('g090') as number;
    const feed = new LiveFeed(scene.node);
    feed.tick([]);
    const said = JSON.parse(feed.framesOf({ ...VIEW, group }).at(-1)?.json ?? '');
    const { directions, ...facts } = said;
    const { directions: own, ...others } = describeGroup(scene.node, group);
    expect(facts).toEqual({ ...others, template: null });
    expect(directions.publish.quota).toEqual(own.publish.quota);
    expect(directions.publish.nodes[0].share).toEqual(own.publish.nodes[0]?.share);
  });

  test('memory is bounded: as many tracks as there may be, and whoever is looked at gets one', () => {
    const heat = new GroupHeat(scene.node);
    const history = new LiveHistory(scene.node, heat);
    for (let tick = 0; tick < 10; tick++) {
      heat.tick();
      history.tick([]);
    }
    expect(history.bytes).toBeLessThan(8e6);
    const full = history.bytes;
    const cold = scene.node.groups.numbers.get('bytes') as number;
    expect(history.status(0, cold * 2 + 1, 0).group).toBeNull();
    for (let tick = 0; tick < 3; tick++) {
      heat.tick();
      history.tick([cold * 2 + 1]);
    }
    expect(history.bytes).toBe(full);
    const { seconds, group, rows, node } = history.status(0, cold * 2 + 1, 0);
    expect([seconds, group?.quota.at(-1), node.members.at(-1)]).toEqual([13, 5000, 1]);
    expect(rows.length).toBeGreaterThan(0);
  });
});

describe('keys in a feed', () => {
  const keys = { 'key:{id}': { quota: { publish: { messagesPerSecond: '600/min' } } } };
  const groups = { orders: { quota: { publish: { messagesPerSecond: 1000 } } } };
  let scenes: readonly HttpScene[] = [];
  beforeAll(async () => {
    const shared = { cluster: `keys-in-feed-${process.pid}`, groups, keys };
    scenes = await Promise.all(['a', 'b'].map((node) => readyScene({ ...shared, node })));
  });
  afterAll(() => Promise.all(scenes.map((scene) => scene.close())));

  function groupsOf(scene: HttpScene) {
    const feed = new LiveFeed(scene.node);
    feed.tick([]);
    const frame = feed.framesOf(VIEW).find(({ event }) => event === 'groups');
    const { rows, unnamed } = JSON.parse(frame?.json ?? '{}') as { rows: { group: string }[]; unnamed: number };
    return { names: rows.map(({ group }) => group), unnamed };
  }

  test('a loud key has a line at its node, and is counted at a node that does not use it', async () => {
    const [a, b] = scenes as [HttpScene, HttpScene];
    // It is listed where requests for it are refused; the others count it until they know its name.
    const seen: ReturnType<typeof groupsOf>[] = [];
    while (!seen.at(-1)?.names.includes('key:alice')) {
      b.node.tryAcquire('key:alice', { messages: 5 });
      await sleep(20);
      seen.push(groupsOf(a));
    }
    expect(groupsOf(b)).toEqual({ names: ['key:alice', 'orders'], unnamed: 0 });
    for (const { names, unnamed } of seen.filter(({ names }) => names.length === 1)) {
      expect(names).toEqual(['orders']);
      expect(unnamed).toBeLessThanOrEqual(1);
    }
    const feed = new LiveFeed(b.node);
    const [key, orders] = [b.node.keys?.numberShown('key:alice'), b.node.groups.numbers.get('orders')] as number[];
    const closely = (group: number | undefined) =>
      JSON.parse(feed.framesOf({ ...VIEW, count: 0, group: group ?? null }).at(-1)?.json ?? '{}').template;
    expect([closely(key), closely(orders)]).toEqual(['key:{id}', null]);
    const heat = new GroupHeat(b.node);
    heat.tick();
    const before = heat.byName.length;
    while (b.node.keys?.numberShown('key:bob') == null) {
      b.node.tryAcquire('key:bob', { messages: 5 });
      await sleep(20);
    }
    heat.tick();
    expect(heat.byName.length).toBe(before + 1);
  });
});
