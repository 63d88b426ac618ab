import { describe, expect, test } from 'vitest';
import { KeyRows } from '../../../../src/core/account/keys/key-rows.js';
import { randomOf } from '../../../property/random-of.js';
import { someOf } from '../../../property/seed.js';

function numberOf(rows: KeyRows, row: number): number {
  return rows.linesOf(row)[rows.offsetOf(row) + 1];
}

function setNumber(rows: KeyRows, row: number, number: number): void {
  rows.linesOf(row)[rows.offsetOf(row) + 1] = number;
}

describe('rows of keys', () => {
  test.each(someOf(Array.from({ length: 12 }, (_, seed) => seed)))('are what a Map is, seed %i', (seed) => {
    const random = randomOf(seed + 1);
    // Few names come and go often; many make shards grow and shrink.
    const names = [5, 60, 2000, 20_000][seed % 4];
    const rows = new KeyRows([1, 100, 50_000][seed % 3], 3, Math.floor(random() * 2 ** 32));
    const map = new Map<string, number>();
    let grows = true;
    for (let step = 0; step < 12_000; step++) {
      if (step % 3000 === 0) grows = !grows || step === 0;
      const name = `key:${Math.floor(random() * names)}`;
      const row = rows.find(name);
      const found = row === -1 ? undefined : numberOf(rows, row);
      if (found !== map.get(name)) expect.fail(`${name} has ${found} at step ${step}, not ${map.get(name)}`);
      const isRemoved = random() < (grows ? 0.2 : 0.8);
      if (row !== -1 && isRemoved) {
        rows.remove(row);
        map.delete(name);
      } else if (row === -1 && !isRemoved) {
        const added = rows.add(name);
        if (numberOf(rows, added) !== 0) expect.fail(`the line of ${name} begins with ${numberOf(rows, added)}`);
        setNumber(rows, added, step);
        map.set(name, step);
      }
    }
    expect(rows.size).toBe(map.size);
    for (const [name, number] of map) expect(numberOf(rows, rows.find(name))).toBe(number);
    const seen = new Set<number>();
    for (let step = rows.slots; step > 0; step--, rows.moveHand()) {
      if (rows.atHand() !== -1) seen.add(numberOf(rows, rows.atHand()));
    }
    expect(seen).toEqual(new Set(map.values()));
    if (map.size === 0) return;
    const passed: number[] = [];
    for (let at = 0; at < map.size; at++, rows.moveHand()) {
      rows.passEmpty(Infinity);
      passed.push(numberOf(rows, rows.atHand()));
    }
    expect(new Set(passed)).toEqual(seen);
  });

  test('slots come and go with the names: at most 1.9 for each, but for the first of a shard', () => {
    const rows = new KeyRows(50_000, 3, 7);
    const empty = rows.slots;
    for (let id = 0; id < 50_000; id++) rows.add(`key:${id}`);
    expect(rows.slots).toBeLessThan(95_000);
    for (let id = 0; id < 50_000; id++) rows.remove(rows.find(`key:${id}`));
    expect(rows.slots).toBe(empty);
  });

  test('names that differ in their last letter alone are spread, whatever the seed', () => {
    for (const seed of [0, 1, 0xffff_ffff]) {
      const rows = new KeyRows(1_000_000, 1, seed);
      for (let id = 0; id < 4096; id++) rows.add(`tenant:42/user:${String.fromCharCode(id + 0x4000)}`);
      // 256 shards of 16 names on the average: the fullest of them would need more than 90 slots for 64 names.
      expect(rows.slots).toBeLessThan(256 * 45);
    }
  });
});
