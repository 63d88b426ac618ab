import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pinnedAccuracy } from '../../sim/accuracy/pinned-accuracy.js';

const STORED = new URL('pinned-accuracy.txt', import.meta.url);

test('every scenario gives the stored figures, byte for byte (npm run accuracy -- --pin stores them anew)', () => {
  const [is, should] = [pinnedAccuracy().split('\n'), readFileSync(STORED, 'utf8').split('\n')];
  const changed = is.filter((line, at) => line !== should[at]);
  console.log(`pinned accuracy: ${is.length - 1} runs, ${changed.length} differ`);
  expect(is).toEqual(should);
});
