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
import { laneOf } from '../../../src/core/base/vocabulary.js';
import { GROUP, SETTINGS } from '../../simulation/settings.js';
import { OneNode } from '../../unit/core/machine/one-node.js';
import { runs } from '../seed.js';

const GROUPS = ['one', 'two'].map((name) => ({
  ...GROUP,
  name,
  quota: { ...GROUP.quota, publish: [200, 90_000] as const },
  burst: { messages: 150, bytes: null, policy: 'optimistic' as const },
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
  gapMs: fc.oneof(fc.integer({ min: 0, max: 300 }), fc.constantFrom(1900, 3000)),
  isRepeated: fc.nat(9).map((drawn) => drawn === 0),
  /** Whether a reader of single records has this one in a step of its own. */
  endsStep: fc.boolean(),
});
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

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
function reader(): { readonly node: OneNode; readonly offset: number } {
  const node = OneNode.ready({ groups: GROUPS });
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

test('it makes no difference to the tokens how many records a node reads in one step', () => {
  let moved = 0;
  fc.assert(
    fc.property(fc.array(action, { minLength: 4, maxLength: 40, size: 'max' }), (actions) => {
      const [alone, inSteps, atOnce] = [reader(), reader(), reader()];
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
    runs(40),
  );
  // A node that starts behind a gap fills the buckets.
  expect(moved).toBeGreaterThan(5);
});
