import { expect, test } from 'vitest';
import { laneOf } from '../../../src/core/base/vocabulary.js';
import { changeInForce } from '../../../src/node/groups/changes/change-in-force.js';
import type { ChangeParts } from '../../../src/node/groups/changes/change-parts.js';

interface Bucket {
  readonly isProposing: boolean;
  readonly isInForce: boolean;
  readonly waitsFor: readonly string[];
}

const KEPT: Bucket = { isProposing: false, isInForce: true, waitsFor: [] };
const WAITING: Bucket = { isProposing: false, isInForce: false, waitsFor: ['c', 'b'] };

/** Parts of a node whose group `paid` has these buckets, one per direction. */
function partsOf(...buckets: Bucket[]): ChangeParts {
  const lanes = new Map(buckets.map((bucket, direction) => [laneOf(3, direction), { bucket }]));
  return { groups: { numbers: new Map([['paid', 3]]) }, strict: lanes } as unknown as ChangeParts;
}

test.each([
  { has: [], answer: null },
  { has: [KEPT, KEPT], answer: { isInForce: true, waitsFor: [], withinMs: 0 } },
  { has: [KEPT, WAITING], answer: { isInForce: false, waitsFor: ['b', 'c'], withinMs: 6000 } },
])('buckets $has: $answer', async ({ has, answer }) => {
  expect(await changeInForce(partsOf(...has), 'paid')).toEqual(answer);
});

test('it is told once the log has the change', async () => {
  const bucket = { ...WAITING, isProposing: true };
  const asked = changeInForce(partsOf(bucket), 'paid');
  setTimeout(() => Object.assign(bucket, KEPT), 50);
  expect(await asked).toMatchObject({ isInForce: true });
});
