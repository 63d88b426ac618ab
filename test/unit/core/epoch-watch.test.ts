import { beforeEach, expect, test } from 'vitest';
import { EpochWatch } from '../../../src/core/epoch/epoch-watch.js';
import { epochTagOf } from '../../../src/core/ids.js';
import type { Member } from '../../../src/core/usage-map/membership.js';
import type { NodeKey } from '../../../src/core/vocabulary.js';

const PARTITIONS = 3;
const STALENESS_MS = 5000;
const OLD = epochTagOf('old');
const NEW = epochTagOf('new');
const OWN = 'own' as unknown as NodeKey;
const OTHER = 'other' as unknown as NodeKey;

let watch: EpochWatch;
beforeEach(() => {
  watch = new EpochWatch({ stalenessMs: STALENESS_MS, partitions: PARTITIONS });
  watch.begin('old', 0);
  const alive = [{ nodeKey: OWN }, { nodeKey: OTHER }] as unknown as Member[];
  watch.change('new', { alive, own: OWN, keepsShares: true }, 10_000);
});

function speak(nodeKey: NodeKey, partitions: readonly number[], tag = NEW): void {
  for (const partition of partitions) watch.heard(nodeKey, partition, tag, 10_100);
}

test('everybody has spoken when each member of the old log has, on every partition', () => {
  speak(OTHER, [0, 2]);
  expect(watch.hasHeardAll(10_100)).toBe(false);
  speak(OTHER, [1]);
  expect(watch.hasHeardAll(10_100)).toBe(true);
});

/** Partitions are read in any order, and a heartbeat that waited while the topic was away is written into the new log. */
test.each([
  ['of this node itself', OWN],
  ['of a member', OTHER],
])(
  'an old heartbeat %s, read behind its new ones on other partitions, takes nothing back that was heard',
  (_, node) => {
    speak(OTHER, [1, 2]);
    speak(node, [1, 2]);
    speak(node, [0], OLD);
    expect(watch.hasHeardAll(10_100)).toBe(false);
    speak(node, [0]);
    speak(OTHER, [0]);
    expect(watch.hasHeardAll(10_100)).toBe(true);
  },
);

test('who starts in a young log and meets a node that has not noticed it counts what it had said before', () => {
  const starter = new EpochWatch({ stalenessMs: STALENESS_MS, partitions: PARTITIONS });
  starter.begin('new', 0);
  starter.heard(OTHER, 1, NEW, 10);
  starter.heard(OTHER, 2, NEW, 20);
  starter.heard(OTHER, 0, OLD, 30);
  expect(starter.hasHeardAll(30)).toBe(false);
  starter.heard(OTHER, 0, NEW, 40);
  expect(starter.hasHeardAll(40)).toBe(true);
});

test('another process of an id that goes on in the old log is waited for anew', () => {
  speak(OTHER, [0, 1, 2]);
  speak(OTHER, [0], OLD);
  expect(watch.hasHeardAll(10_100)).toBe(false);
  speak(OTHER, [0]);
  expect(watch.hasHeardAll(10_100)).toBe(false);
  speak(OTHER, [1, 2]);
  expect(watch.hasHeardAll(10_100)).toBe(true);
});

test('nobody is waited for longer than stalenessMs', () => {
  expect(watch.hasHeardAll(10_000 + STALENESS_MS)).toBe(false);
  expect(watch.hasHeardAll(10_001 + STALENESS_MS)).toBe(true);
});
