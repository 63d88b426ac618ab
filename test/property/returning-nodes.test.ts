import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Append } from '../../src/core/base/protocol/events-and-effects.js';
import type { CoordinatorSettings } from '../../src/core/base/settings.js';
import { GATED, SETTINGS } from '../simulation/settings.js';
import { runs } from './seed.js';
import { CompactedLog, Process, type View } from './small-cluster.js';

const GROUP_COUNT = 5;
const TARGET = 1000;
const SETTINGS_OF_ALL: Omit<CoordinatorSettings, 'partitions' | 'nodeId'> = {
  ...SETTINGS,
  nonce: 1,
  groupsPerRecord: 1,
  sampleIntervalMs: 50,
  heartbeatMs: 500,
  partitionHeartbeatMs: 1000,
  stalenessMs: 2000,
  forgetAfterMs: 4000,
  isolationAfterMs: 2000,
  groups: Array.from({ length: GROUP_COUNT }, (_, at) => ({ ...GATED, name: `group-${at}`, strategy: 'max-min' })),
};
const NODE_IDS = ['anchor', 'coming-and-going', 'as-well'];

/** What happens next. The anchor runs all the time: somebody has to remember, and to forget. */
type Deed =
  | { readonly kind: 'start'; readonly node: number; readonly compaction: 'none' | 'whole' | 'without-tombstones' }
  | { readonly kind: 'stop' | 'kill' | 'kill-with-records-on-their-way'; readonly node: number }
  | { readonly kind: 'work'; readonly node: number; readonly groups: readonly number[]; readonly perRound: number }
  | { readonly kind: 'deliver-what-was-on-its-way' | 'watch' | 'be-forgotten' };

const compaction = fc.constantFrom('none' as const, 'whole' as const, 'without-tombstones' as const);
const end = fc.constantFrom('stop' as const, 'kill' as const, 'kill-with-records-on-their-way' as const);

/** One or two lives of a node, with some work in the last, and what becomes of it: free choices meet too seldom. */
const chapter: fc.Arbitrary<Deed[]> = fc
  .record({
    node: fc.integer({ min: 1, max: NODE_IDS.length - 1 }),
    livesBefore: fc.nat(2),
    compaction,
    groups: fc.uniqueArray(fc.nat(GROUP_COUNT - 1), { minLength: 1 }),
    perRound: fc.integer({ min: 1, max: 60 }),
    end,
    ends: fc.boolean(),
    afterwards: fc.constantFrom(
      'deliver-what-was-on-its-way' as const,
      'watch' as const,
      'be-forgotten' as const,
      null,
    ),
  })
  .map(({ node, livesBefore, ...last }) => [
    ...Array.from({ length: livesBefore }, () => [
      { kind: 'start' as const, node, compaction: last.compaction },
      { kind: 'kill' as const, node },
    ]).flat(),
    { kind: 'start', node, compaction: last.compaction },
    { kind: 'work', node, groups: last.groups, perRound: last.perRound },
    { kind: 'work', node: 0, groups: last.groups, perRound: 1 },
    ...(last.ends ? [{ kind: last.end, node }] : []),
    ...(last.afterwards === null ? [] : [{ kind: last.afterwards }]),
  ]);

class World {
  readonly #settings: CoordinatorSettings;
  readonly #log: CompactedLog;
  readonly #running = new Map<string, Process>();
  readonly #watchers: Process[] = [];
  #onTheWay: Append[] = [];
  #nowMs = 1000;
  #nonce = 0;

  constructor(partitions: number) {
    this.#settings = { ...SETTINGS_OF_ALL, nodeId: '', partitions };
    this.#log = new CompactedLog(partitions);
    this.#start('anchor', 'none');
    this.run(500);
  }

  do(deed: Deed): void {
    const nodeId = 'node' in deed ? NODE_IDS[deed.node] : '';
    const running = this.#running.get(nodeId);
    switch (deed.kind) {
      case 'start':
        if (running === undefined) this.#start(nodeId, deed.compaction);
        break;
      case 'stop':
        running?.stop(this.#nowMs);
        for (const append of running?.take() ?? []) this.#log.append(append);
        this.#running.delete(nodeId);
        break;
      case 'kill':
        this.#running.delete(nodeId);
        break;
      case 'kill-with-records-on-their-way':
        running?.round(this.#nowMs + 1000);
        this.#onTheWay.push(...(running?.take() ?? []));
        this.#running.delete(nodeId);
        break;
      case 'deliver-what-was-on-its-way':
        for (const append of this.#onTheWay) this.#log.append(append);
        this.#onTheWay = [];
        break;
      case 'work':
        this.run(1500, nodeId, deed.groups, deed.perRound);
        break;
      case 'watch':
        for (const isWhole of [true, false]) this.#watch(isWhole);
        break;
      case 'be-forgotten':
        this.run(2 * this.#settings.forgetAfterMs);
        break;
    }
    this.run(300);
  }

  run(ms: number, working = '', groups: readonly number[] = [], perRound = 0): void {
    for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += this.#settings.sampleIntervalMs) {
      this.#nowMs += this.#settings.sampleIntervalMs;
      this.#log.clockMs += this.#settings.sampleIntervalMs;
      const worker = this.#running.get(working);
      for (const group of groups) for (let ask = 0; ask < perRound; ask++) worker?.ask(group * 2, this.#nowMs);
      for (const process of this.#running.values()) {
        process.round(this.#nowMs);
        for (const append of process.take()) this.#log.append(append);
      }
      for (const process of [...this.#running.values(), ...this.#watchers])
        process.read(this.#log.partitions, this.#nowMs);
    }
  }

  /** Everybody's view, newcomers' to both kinds of compacted log among them, once log time has let the dead be dead. */
  views(): Record<string, View> {
    for (const isWhole of [true, false]) this.#watch(isWhole);
    this.run(2 * this.#settings.stalenessMs);
    const named = [...this.#running].map(([nodeId, process]) => [nodeId, process.view()]);
    const watching = this.#watchers.map((process, at) => [`watcher ${at}`, process.view()]);
    return Object.fromEntries([...named, ...watching]);
  }

  #start(nodeId: string, compaction: 'none' | 'whole' | 'without-tombstones'): void {
    if (compaction !== 'none') this.#log.partitions = this.#log.compacted(compaction === 'whole');
    const process = new Process({ ...this.#settings, nodeId, nonce: ++this.#nonce }, this.#log.partitions, this.#nowMs);
    process.join(this.#nowMs);
    this.#running.set(nodeId, process);
  }

  #watch(withTombstones: boolean): void {
    const settings = { ...this.#settings, nodeId: 'watcher' };
    this.#watchers.push(new Process(settings, this.#log.compacted(withTombstones), this.#nowMs));
  }
}

function expectWithinTarget(view: View): void {
  for (const [group, members] of Object.entries(view)) {
    const total = Object.values(members).reduce((sum, [, share]) => sum + share, 0);
    expect(total, group).toBeLessThanOrEqual(TARGET * (1 + 1e-9));
  }
}

const histories = fc.tuple(fc.integer({ min: 1, max: 3 }), fc.array(chapter, { minLength: 3, maxLength: 9 }));

test('whoever comes and goes: running nodes and newcomers to the compacted log hold the same rows and shares', () => {
  fc.assert(
    fc.property(histories, ([partitions, chapters]) => {
      const world = new World(partitions);
      for (const next of chapters.flat()) world.do(next);
      const { anchor, ...others } = world.views();
      for (const [name, view] of Object.entries(others)) expect(view, name).toEqual(anchor);
      expectWithinTarget(anchor);
    }),
    runs(150),
  );
});

test('an id that used more buckets in an earlier life, was forgotten and comes back, is believed', () => {
  const world = new World(1);
  const node = 1;
  const deeds: Deed[] = [
    { kind: 'start', node, compaction: 'none' },
    { kind: 'kill', node },
    { kind: 'start', node, compaction: 'none' },
    { kind: 'work', node, groups: [0, 1, 2, 3], perRound: 50 },
    { kind: 'kill', node },
    { kind: 'start', node, compaction: 'none' },
    { kind: 'work', node, groups: [0], perRound: 5 },
    { kind: 'stop', node },
    { kind: 'be-forgotten' },
    { kind: 'start', node, compaction: 'whole' },
    { kind: 'work', node, groups: [0, 1, 2, 3], perRound: 1 },
  ];
  for (const next of deeds) world.do(next);
  const { anchor, ...others } = world.views();
  for (const view of Object.values(others)) expect(view).toEqual(anchor);
  for (const group of [0, 1, 2, 3]) {
    const [demand = 0] = anchor?.[`group-${group}`]?.['coming-and-going'] ?? [];
    expect(demand).toBeGreaterThan(0);
    expect(demand).toBeLessThan(40);
  }
});
