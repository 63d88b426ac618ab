import { describe, expect, test } from 'vitest';
import { writeId } from '../../../src/core/base/ids.js';
import { KeyedHash } from '../../../src/core/base/keyed-hash.js';
import { BundleKeys } from '../../../src/core/usage-map/bundle-keys.js';
import { LaneNumbers } from '../../../src/core/usage-map/lane-numbers.js';
import { RecordStore } from '../../../src/core/usage-map/record-store.js';

const CELLS = 4096;
const COUNT = 2000;
const SEEDS = Array.from({ length: 40 }, (_, seed) => seed * 0x1234567);

/** Pairs of hashes that fall into one of the cells, as a multiple of what chance gives, over all seeds. */
function crowding(hashesOf: (hash: KeyedHash) => number[], cellOf: (hash: number) => number): number {
  let pairs = 0;
  for (const seed of SEEDS) {
    const counts = new Uint32Array(CELLS);
    for (const each of hashesOf(new KeyedHash(seed))) counts[cellOf(each)]++;
    for (const count of counts) pairs += (count * (count - 1)) / 2;
  }
  return pairs / SEEDS.length / ((COUNT * (COUNT - 1)) / 2 / CELLS);
}

/** What somebody may choose, so that hashes fall together whose bits do not all depend on all others. */
const WORDS: Record<string, (at: number) => [number, number, number]> = {
  'the same last word': (at) => [at, 7 * at, 9],
  'the same first words': (at) => [1, 2, at],
  'other in the upper half of a word': (at) => [at << 16, 1, 1],
  'halves that even out': (at) => [at, 0, 0xffff - at],
  'multiples of 2^20': (at) => [3, Math.imul(at, 2 ** 20) >>> 0, at << 20],
};

describe('whatever is chosen, pairs meet as often as by chance', () => {
  const low = (hash: number) => hash % CELLS;
  const high = (hash: number) => Math.floor((hash / 2 ** 32) * CELLS);

  test.each(Object.entries(WORDS))('%s', (_, wordsOf) => {
    const hashesOf = (hash: KeyedHash) => Array.from({ length: COUNT }, (_, at) => hash.of(...wordsOf(at), at & 1));
    for (const cellOf of [low, high]) expect(crowding(hashesOf, cellOf)).toBeLessThan(1.5);
  });
});

/** A hash of names as one might write it: it begins with the seed, and multiplies by a public constant. */
function chained(state: number, name: string): number {
  let hash = state;
  for (let at = 0; at < name.length; at++) hash = Math.imul(hash ^ name.charCodeAt(at), 0x9e3779b1);
  return hash;
}

/** Two words of zeros and ones that lead a chain from a state to the same one, and from all with the same six low bits. */
function meetingWords(state: number): readonly [string, string] {
  const words = new Map<number, string>();
  for (let at = 0; ; at++) {
    const word = at.toString(2).padStart(24, '0');
    const end = chained(state, word);
    const other = words.get(end);
    if (other !== undefined) return [other, word];
    words.set(end, word);
  }
}

/** 2^6 names that a chain takes for one under every 64th seed. */
function meetingNames(): readonly string[] {
  let names = [''];
  let state = 0;
  for (let word = 0; word < 6; word++) {
    const words = meetingWords(state);
    names = names.flatMap((name) => words.map((each) => name + each));
    state = chained(state, words[0]);
  }
  return names;
}

test('names that a chain of multiplications takes for one under every 64th seed have hashes of their own', () => {
  const names = meetingNames();
  for (const seed of [0, 64, 0x76543240]) {
    expect(new Set(names.map((name) => chained(seed, name))).size).toBe(1);
    const hash = new KeyedHash(seed);
    expect(new Set(names.map((name) => hash.ofText(name))).size).toBe(names.length);
  }
});

test.each<readonly [string, (at: number) => string]>([
  ['numbers', (at) => `key:${at}`],
  ['one character', (at) => String.fromCharCode(at)],
  ['lengths', (at) => '\0'.repeat(at & 255) + at],
  ['zeros and ones', (at) => at.toString(2)],
])('names are met as often as by chance: %s', (_, nameOf) => {
  const hashesOf = (hash: KeyedHash) => Array.from({ length: COUNT }, (__, at) => hash.ofText(nameOf(at)));
  const low = (hash: number) => hash % CELLS;
  const high = (hash: number) => Math.floor((hash / 2 ** 32) * CELLS);
  for (const cellOf of [low, high]) expect(crowding(hashesOf, cellOf)).toBeLessThan(1.5);
});

/** Ids that somebody has made for one seed: all fall into a few of the cells. */
function madeFor(seed: number, count: number): [number, number, number][] {
  const hash = new KeyedHash(seed);
  const made: [number, number, number][] = [];
  for (let at = 0; made.length < count; at++) if (hash.of(at, 5, 6, 0) % 1024 === 0) made.push([at, 5, 6]);
  return made;
}

describe('tables of what the topic says', () => {
  test('ids that were made for one seed are met one by one under another', () => {
    const ids = madeFor(1, 1500).map((words) => writeId(...words));
    const [crowded, spread] = [new LaneNumbers(1), new LaneNumbers(2)];
    for (const table of [crowded, spread]) for (const id of ids) table.of(id, 0);
    // What an attacker wants, who must know the seed for it.
    expect(crowded.met).toBeGreaterThan(50_000);
    expect(spread.met).toBeLessThan(2 * ids.length);
  });

  test.each(Object.entries(WORDS))('a lane is found after one other on the average: %s', (_, wordsOf) => {
    const table = new LaneNumbers(77);
    for (let at = 0; at < 20_000; at++) table.of(writeId(...wordsOf(at)), 0);
    const filled = table.met;
    for (let at = 0; at < 20_000; at++) table.find(writeId(...wordsOf(at)), 0);
    expect(filled).toBeLessThan(2 * 20_000);
    expect(table.met - filled).toBeLessThan(20_000);
  });

  test.each([1, 16, 4096, 2 ** 16])('a record is found after few others: bundles are multiples of %d', (factor) => {
    const records = new RecordStore();
    const keys = new BundleKeys(records, 77);
    const never = { nowMs: 0, logMs: 0, spanMs: 0, pauseMs: 0, offset: 0, readUntil: 0, fullInMs: 0 };
    for (let at = 0; at < 20_000; at++) {
      const record = records.add();
      records.write(
        record,
        { incarnation: 1, sequence: 1 },
        { member: 1, partition: 0, bundle: factor * at, ...never },
      );
      keys.add(1, record);
    }
    const before = keys.met;
    for (let at = 0; at < 20_000; at++) keys.find(1, 0, factor * at);
    expect(keys.met - before).toBeLessThan(2 * 20_000);
  });
});
