import { beforeEach, expect, test } from 'vitest';
import { epochTagOf } from '../../../src/core/base/ids.js';
import type { NodeKey } from '../../../src/core/base/vocabulary.js';
import { EpochWatch } from '../../../src/core/log/reading/epoch-watch.js';
import type { Member } from '../../../src/core/usage-map/membership.js';

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
    expect(watch.isWaitOver(10_100)).toBe(false);
    speak(node, [0]);
    speak(OTHER, [0]);
    expect(watch.isWaitOver(10_100)).toBe(true);
  },
);

test('who starts in a young log and meets a node that has not noticed it counts what it had said before', () => {
  const starter = new EpochWatch({ stalenessMs: STALENESS_MS, partitions: PARTITIONS });
  starter.begin('new', 0);
  starter.heard(OTHER, 1, NEW, 10);
  starter.heard(OTHER, 2, NEW, 20);
  starter.heard(OTHER, 0, OLD, 30);
  expect(starter.isWaitOver(30)).toBe(false);
  starter.heard(OTHER, 0, NEW, 40);
  expect(starter.isWaitOver(40)).toBe(true);
});

test('another process of an id that goes on in the old log is waited for anew', () => {
  speak(OTHER, [0, 1, 2]);
  speak(OTHER, [0], OLD);
  expect(watch.isWaitOver(10_100)).toBe(false);
  speak(OTHER, [0]);
  expect(watch.isWaitOver(10_100)).toBe(false);
  speak(OTHER, [1, 2]);
  expect(watch.isWaitOver(10_100)).toBe(true);
});

test('a node of the old log is waited for by its heartbeats on the membership partition alone, while the log is young', () => {
  speak(OTHER, [0, 1, 2]);
  watch.settle();
  speak(OTHER, [1, 2], OLD);
  expect(watch).toMatchObject({ isHolding: false, awaited: 0 });
  watch.heard(OTHER, 0, OLD, 10_001 + STALENESS_MS);
  expect(watch).toMatchObject({ isHolding: false, awaited: 0 });
  watch.heard(OTHER, 0, OLD, 10_000 + STALENESS_MS);
  expect(watch).toMatchObject({ isHolding: true, awaited: 1 });
});

test('where nothing was told of the log no record is of another one', () => {
  const untold = new EpochWatch({ stalenessMs: STALENESS_MS, partitions: PARTITIONS });
  untold.heard(OTHER, 0, OLD, 0);
  expect(untold).toMatchObject({ isHolding: false, awaited: 0, tag: 0, name: null });
  expect(untold).toMatchObject({ keepsShares: false, isOwnRead: false, nodesAtLeast: 0, changes: 0 });
  expect([watch.name, watch.tag]).toEqual(['new', NEW]);
});

test('an agreed pool is waited for twice as long', () => {
  expect(watch.isPoolWaitOver(10_000 + 2 * STALENESS_MS)).toBe(false);
  expect(watch.isPoolWaitOver(10_001 + 2 * STALENESS_MS)).toBe(true);
});

test('whoever is of a version that does not say which log it reads is taken at its word', () => {
  speak(OTHER, [0, 1, 2], 0);
  expect(watch.isWaitOver(10_100)).toBe(true);
});

test('own records that were read back in one log are to be read back in the next', () => {
  watch.isOwnRead = true;
  watch.change('newer', { alive: [], own: OWN, keepsShares: true }, 10_050);
  expect(watch.isOwnRead).toBe(false);
});

test('nodes that had a log each are awaited by their number, and what was said before this log was read is of the dead', () => {
  const apart = new EpochWatch({ stalenessMs: STALENESS_MS, partitions: 1 });
  apart.begin('alone', 0);
  apart.change('new', { alive: [], own: OWN, keepsShares: true, nodesApart: 2 }, 10_000);
  apart.heard(OTHER, 0, NEW, 10_001);
  apart.caughtUp();
  apart.heard(OWN, 0, NEW, 10_002);
  expect(apart.isWaitOver(10_002)).toBe(false);
  expect(apart.awaited).toBe(1);
  apart.heard(OTHER, 0, NEW, 10_003);
  expect(apart.isWaitOver(10_003)).toBe(true);
  apart.left(OTHER, 0);
  expect(apart.isWaitOver(10_004)).toBe(false);
  expect(apart.isWaitOver(10_001 + STALENESS_MS)).toBe(true);
  expect(apart.settle()).toBe(1);
  expect(apart.awaited).toBe(0);
});
