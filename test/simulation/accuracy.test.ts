import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pinnedAccuracy } from '../../sim/accuracy/pinned-accuracy.js';
import { builtInNames } from '../../sim/scenario/load-scenario.js';
import { someOf } from '../property/seed.js';

const STORED = new URL('pinned-accuracy.txt', import.meta.url);

test('every scenario gives the stored figures, byte for byte (npm run accuracy -- --pin stores them anew)', () => {
  const played = someOf(builtInNames());
  const stored = readFileSync(STORED, 'utf8').split('\n');
  expect(new Set(stored.map((line) => line.split(' ')[0]))).toEqual(new Set([...builtInNames(), '']));
  const should = stored.filter((line) => line === '' || played.includes(line.split(' ')[0]));
  // A system that was added is held from when its figures are stored on.
  const known = new Set(should.map(runOf));
  const is = pinnedAccuracy(played)
    .split('\n')
    .filter((line) => known.has(runOf(line)));
  const changed = is.filter((line, at) => line !== should[at]);
  console.log(`pinned accuracy: ${is.length - 1} runs, ${changed.length} differ`);
  expect(is).toEqual(should);
});

function runOf(line: string): string {
  return line.split(' ', 2).join(' ');
}
