import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { World } from '../../../sim/cluster/world.js';
import { KeyedCluster } from '../../../sim/keys/keyed-cluster.js';
import { replayRecording } from '../../../sim/replay/replay-recording.js';
import { resolveConfig } from '../../../src/config/read/resolve-config.js';
import { MESSAGES, slotOf } from '../../../src/core/base/vocabulary.js';
import { RecordCodec } from '../../../src/topic/codec/record-codec.js';
import type { Recording, RecordingEntry } from '../../../src/topic/recording/read-recording.js';
import type { RecordingHeader } from '../../../src/topic/recording/recording-format.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';

const { groups, cluster, version, limiting, costs: _, ...timing } = SETTINGS;
const HEADER: RecordingHeader = {
  format: 1,
  cluster,
  version,
  topic: 'embedded',
  startedAt: '2026-01-01T00:00:00.000Z',
  partitions: 1,
  timing,
  limiting,
  groups,
  keys: [],
};

/** The log of a live cluster in virtual time, from the start, as a recorder would have written it. */
function recordingOf(world: Pick<World, 'topic'>, header = HEADER, { before = NONE, behind = NONE } = {}): Recording {
  const codec = new RecordCodec(header.cluster);
  const entries = world.topic.log.map(({ record, ...read }) => {
    return { ...read, value: record === null ? null : codec.encode(record) };
  });
  const all = Readable.from([...before, 'caught-up', ...entries, ...behind]);
  return { header, entries: all, end: { isClosed: true, damage: null } };
}

const NONE: readonly RecordingEntry[] = [];

function replay(recording: Recording, group?: string) {
  return replayRecording(recording, { group, direction: 'publish' });
}

function liveCluster(seconds: number): World {
  const world = new World(5, SETTINGS);
  for (const node of ['a', 'b', 'c']) world.start(node);
  world.runFor(2000);
  world.drive({ node: 'a', ratePerSecond: () => 2000 });
  for (const node of ['b', 'c']) world.drive({ node, ratePerSecond: () => 100 });
  world.runFor(seconds * 1000);
  return world;
}

describe('replayRecording', () => {
  test('the live strategy gives what the live nodes held; the others give what is theirs', async () => {
    const world = liveCluster(10);
    const { runs, records, undecodable } = await replay(recordingOf(world));
    expect({ records, undecodable }).toEqual({ records: world.topic.log.length, undecodable: 0 });
    const maxMin = runs.find(({ system }) => system === 'quotamesh max-min')!;
    expect([...maxMin.nodes].sort()).toEqual(['a', 'b', 'c']);
    for (const node of ['a', 'b', 'c']) {
      const live = world.node(node).coordinator.shares.computed[slotOf(0, MESSAGES)];
      expect(maxMin.series[0].perNode[node].limit.at(-1)).toBe(live);
      expect(live).toBeGreaterThan(90);
    }
    // Under proportional the one that asks for 2,000 of 2,200 gets most, but not all that others leave.
    const proportional = runs.find(({ system }) => system === 'quotamesh proportional')!;
    expect(proportional.series[0].perNode.a.limit.at(-1)).toBeGreaterThan(0);
    expect(proportional.series[0].perNode.a.limit.at(-1)).not.toBe(maxMin.series[0].perNode.a.limit.at(-1));
    // 12 s of life, the last heartbeats less than a second before their end.
    expect(maxMin.durationMs).toBeGreaterThan(10_500);
    expect(maxMin.durationMs).toBeLessThan(12_500);
    expect(maxMin.happenings.map(({ says }) => says.replace(/^[\d.]+ s /, '')).sort()).toEqual([
      'a joined',
      'b joined',
      'c joined',
    ]);
  });

  test('under equal each has its part of the quota, which nodes that divide otherwise never agreed on', async () => {
    const world = liveCluster(10);
    const { runs } = await replay(recordingOf(world));
    const equal = runs.find(({ system }) => system === 'quotamesh equal')!;
    const quota = GROUP.quota.publish[0];
    for (const node of ['a', 'b', 'c']) {
      const { limit, demand } = equal.series[0].perNode[node];
      expect(limit.at(-1)).toBeCloseTo(quota / 3, 6);
      expect(demand.at(-1)).toBeGreaterThan(50);
      // From the first heartbeats on, a second of them each.
      expect(limit.filter((rate) => rate === 0).length).toBeLessThan(35);
    }
    // One leaves: its part is shared out when the others have said so.
    world.node('c').leave();
    world.runFor(4000);
    const later = (await replay(recordingOf(world))).runs.find(({ system }) => system === 'quotamesh equal')!;
    expect(later.series[0].perNode.a.limit.at(-1)).toBeCloseTo(quota / 2, 6);
    expect(later.series[0].perNode.c.limit.at(-1)).toBe(0);
  });

  test('of a cluster with keys alone any key is replayed by its name, and those that nodes publish are listed', async () => {
    const keys = {
      'key:{id}': { quota: { publish: { messagesPerSecond: 30 } }, overrides: { 'key:vip': { burst: 7 } } },
    };
    const { templates } = resolveConfig({ cluster: 'keys', topic: 'memory', keys }, { source: '(test)' }).keys;
    const cluster = new KeyedCluster({ nodes: 3, keys, seed: 1 });
    for (let at = 0; at < 1000; at++) {
      cluster.advance(10);
      cluster.nodes[at % 2].ask('key:acme', 1);
    }
    const header = { ...HEADER, cluster: 'keys', groups: [], keys: templates };
    const { runs, undecodable } = await replay(recordingOf(cluster, header), 'key:acme');
    expect(undecodable).toBe(0);
    for (const { system, series, scenario } of runs) {
      expect(scenario).toBe('keys, key:acme, publish');
      const limits = Object.values(series[0].perNode).map(({ limit }) => limit.at(-1) as number);
      const sum = limits.reduce((total, limit) => total + limit, 0);
      expect({ system, isWhole: sum > 29 && sum < 31 }).toEqual({ system, isWhole: true });
      const wanted = Object.values(series[0].perNode).map(({ demand }) => demand.at(-1) as number);
      expect(wanted.filter((rate) => rate > 40)).toHaveLength(2);
    }
    await expect(replay(recordingOf(cluster, header))).rejects.toThrow(
      'name a group or key of the recording with --group: key:{id}, key:acme',
    );
    await expect(replay(recordingOf(cluster, header), 'other')).rejects.toThrow(
      'the recording has no settings of "other" (of run time they are not recorded), but of key:{id}, key:acme',
    );
  });

  test('a topic that is made anew goes on where the one before it ended', async () => {
    const [first, second] = [liveCluster(10), liveCluster(4)];
    const behind: RecordingEntry[] = [{ epoch: 'made anew' }];
    for await (const entry of recordingOf(second).entries) behind.push(entry);
    const { runs } = await replay(recordingOf(first, HEADER, { before: [{ epoch: 'first' }], behind }));
    // 12 s of life, and 6 s; the last heartbeats of each come less than a second before its end, and each begins with one.
    expect(runs[0]?.durationMs).toBeGreaterThan(15_000);
    expect(runs[0]?.durationMs).toBeLessThan(18_500);
    expect(runs[0]?.series[0]?.perNode.a?.admitted.at(-1)).toBeGreaterThan(0);
  });

  test('a node that leaves has no share from then on', async () => {
    const world = liveCluster(3);
    world.node('c').leave();
    world.runFor(4000);
    const { runs } = await replay(recordingOf(world));
    const { perNode } = runs[0].series[0];
    expect(perNode.c.limit.at(-1)).toBe(0);
    expect(perNode.b.limit.at(-1)).toBeGreaterThan(0);
    expect(runs[0].happenings.at(-1)!.says).toMatch(/ s c left$/);
  });

  test('records of others are counted and left out', async () => {
    const foreign = { partition: 0, offset: 1e6, appendMs: 0, key: 'x', value: Buffer.from('not ours') };
    const { undecodable } = await replay(recordingOf(liveCluster(1), HEADER, { behind: [foreign] }));
    expect(undecodable).toBe(1);
  });

  test('of several groups one must be named', async () => {
    const header = { ...HEADER, groups: [GROUP, { ...GROUP, name: 'mail' }] };
    const world = liveCluster(1);
    await expect(replay(recordingOf(world, header))).rejects.toThrow(
      'name a group or key of the recording with --group: orders, mail',
    );
    await expect(replay(recordingOf(world, header), 'nail')).rejects.toThrow(
      'the recording has no settings of "nail" (of run time they are not recorded), but of orders, mail',
    );
    const { runs } = await replay(recordingOf(world, header), 'orders');
    expect(runs[0].scenario).toBe('demo, orders, publish');
  });
});
