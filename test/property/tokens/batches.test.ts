import fc from 'fast-check';
import { expect, test } from 'vitest';
import { groupIdOf, incarnationOf, nodeKeyOf } from '../../../src/core/base/ids.js';
import type { ReadEvent } from '../../../src/core/base/protocol/events-and-effects.js';
import {
  NOTHING_REPORTED,
  nodeRecordKey,
  type ReportRow,
  reportRecordKey,
  type TopicRecord,
} from '../../../src/core/base/protocol/record.js';
import type { GroupSettings } from '../../../src/core/base/settings.js';
import { laneOf } from '../../../src/core/base/vocabulary.js';
import { GROUP, RAMP, SETTINGS } from '../../simulation/settings.js';
import { OneNode } from '../../unit/core/machine/one-node.js';
import { runs } from '../seed.js';

const GROUPS: readonly GroupSettings[] = ['one', 'two'].map((name) => ({
  ...GROUP,
  name,
  quota: { ...GROUP.quota, publish: [200, 90_000] },
  burst: { messages: 150, bytes: null, policy: 'optimistic' },
}));

/** The targets rise with log time alone, and the depths with them. */
const RISING: readonly GroupSettings[] = GROUPS.map((group) => ({
  ...group,
  burst: GROUP.burst,
  ramp: { ...RAMP, mode: 'scheduled', fromPerSecond: 20, toPerSecond: null, overMs: 60_000 },
}));

const row = fc.record({
  group: fc.nat(1),
  demand: fc.integer({ min: 0, max: 300 }),
  size: fc.integer({ min: 100, max: 900 }),
  charge: fc.integer({ min: -60, max: 60 }),
});

/** One record of another node; its lane may stand in either of two bundles, and in a new life of the node. */
const action = fc.record({
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant('report' as const) },
    { weight: 2, arbitrary: fc.constant('node' as const) },
    fc.constantFrom('farewell' as const, 'tombstone' as const),
  ),
  node: fc.nat(3),
  newLife: fc.nat(9).map((drawn) => drawn === 0),
  bundle: fc.nat(1),
  rows: fc.uniqueArray(row, { maxLength: 2, selector: ({ group }) => group }),
  gapMs: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(0, 1900, 3000)),
  isRepeated: fc.nat(9).map((drawn) => drawn === 0),
  /** Whether a reader of single records has this one in a step of its own. */
  endsStep: fc.boolean(),
});
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

const PLAIN: Action = {
  kind: 'node',
  node: 0,
  newLife: false,
  bundle: 0,
  rows: [],
  gapMs: 0,
  isRepeated: false,
  endsStep: false,
};

const TAKES: Action = { ...PLAIN, kind: 'report', rows: [{ group: 0, demand: 0, size: 100, charge: 15 }] };

/** A node joins, and log time goes on with the next record. */
const JOINS_BETWEEN_STEPS: Action[] = [PLAIN, { ...PLAIN, node: 1 }, { ...TAKES, gapMs: 19 }];

function historyOf(actions: readonly Action[], node: OneNode, offset: number): ReadEvent[] {
  const { cluster } = SETTINGS;
  const lives = [1, 1, 1, 1];
  let sequence = 0;
  let appendMs = node.logClockMs;
  return actions.flatMap(({ kind, node: at, newLife, bundle, rows, gapMs, isRepeated }, index) => {
    appendMs += gapMs;
    if (newLife) lives[at] = lives[at] + 1;
    const nodeId = `other-${at}`;
    const nodeKey = nodeKeyOf(cluster, nodeId);
    const author = { nodeKey, incarnation: incarnationOf(lives[at], 7), sequence: ++sequence };
    const isOfBundle = kind === 'report' || kind === 'tombstone';
    const key = isOfBundle ? reportRecordKey(nodeKey, bundle) : nodeRecordKey(nodeKey);
    let record: TopicRecord | null = null;
    if (kind === 'report') record = { kind, author, rows: rows.map(rowOf) };
    else if (kind === 'node') record = { kind, author, nodeId, version: 'test' };
    else if (kind === 'farewell') record = { kind, author, nodeId };
    const read = { partition: 0, offset: offset + index, appendMs, key, record };
    return isRepeated ? [read, read] : [read];
  });
}

function rowOf({ group, demand, size, charge }: Action['rows'][number]): ReportRow {
  const rates = {
    usageMessages: demand,
    usageBytes: demand * size,
    demandMessages: demand,
    demandBytes: demand * size,
  };
  const groupId = groupIdOf(SETTINGS.cluster, GROUPS[group]?.name ?? '');
  const charges = { charge: [charge, charge * size] as const };
  return { ...NOTHING_REPORTED, groupId, direction: 0, ...rates, ...charges };
}

/** A node that has followed both lanes until they were full. */
function reader(groups: readonly GroupSettings[]): { readonly node: OneNode; readonly offset: number } {
  const node = OneNode.ready({ groups });
  for (const group of [0, 1]) node.tryAcquire(laneOf(group, 0), 1, { bytes: 100 });
  node.run(9000);
  node.lose();
  return { node, offset: node.coordinator.log.nextOffset(0) };
}

function tokensOf(node: OneNode): number[] {
  return [0, 1].flatMap((group) => {
    const slots = node.coordinator.lanes.get(laneOf(group, 0))?.tokens?.slots ?? [];
    return slots.map(({ settledTokens }) => settledTokens);
  });
}

test.each([
  ['', GROUPS],
  [', nor where ramps move the targets', RISING],
])('it makes no difference to the tokens how many records a node reads in one step%s', (_, groups) => {
  let moved = 0;
  fc.assert(
    fc.property(fc.array(action, { minLength: 4, maxLength: 40, size: 'max' }), (actions) => {
      const [alone, inSteps, atOnce] = [reader(groups), reader(groups), reader(groups)];
      const full = tokensOf(alone.node);
      const history = historyOf(actions, alone.node, alone.offset);
      for (const read of history) alone.node.step({ kind: 'records-read', records: [read] });
      let records: ReadEvent[] = [];
      history.forEach((read, at) => {
        records.push(read);
        if (actions[at % actions.length]?.endsStep !== true && at < history.length - 1) return;
        inSteps.node.step({ kind: 'records-read', records });
        records = [];
      });
      atOnce.node.step({ kind: 'records-read', records: history });
      expect(tokensOf(inSteps.node)).toEqual(tokensOf(alone.node));
      expect(tokensOf(atOnce.node)).toEqual(tokensOf(alone.node));
      if (tokensOf(alone.node).some((each, slot) => each !== full[slot])) moved++;
    }),
    { ...runs(40), examples: [[JOINS_BETWEEN_STEPS]] },
  );
  // A node that starts behind a gap fills the buckets.
  expect(moved).toBeGreaterThan(runs(15).numRuns);
});

test('where no use is expected, a bucket on a ramp has the same tokens whether a node joins or only beats', () => {
  const tokens = [0, 1].map((joins) => {
    const { node, offset } = reader(RISING);
    const beats = { ...PLAIN, gapMs: 300 };
    const records = historyOf([TAKES, { ...TAKES, rows: [] }, { ...beats, node: joins }, beats], node, offset);
    for (const read of records) node.step({ kind: 'records-read', records: [read] });
    return tokensOf(node);
  });
  expect(tokens[1]).toEqual(tokens[0]);
});
