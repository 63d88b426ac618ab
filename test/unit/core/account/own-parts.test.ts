import { describe, expect, test } from 'vitest';
import { OwnParts } from '../../../../src/core/account/own-parts.js';

const BUCKET = { perSecond: 1000, depth: 100 };
const OWN = { share: 300, debtSeconds: 1 };

function boundOf(parts: OwnParts, takeable: number, isMember = true) {
  const own = { takeable, depth: 100, perSecond: 500, comesBackPerSecond: 500 };
  parts.bind(own, isMember);
  return own;
}

function partsOf(minShareRatio: number, maxShareRatio: number, { count = 3, piece = 1 } = {}): OwnParts {
  const parts = new OwnParts();
  parts.set({ minShareRatio, maxShareRatio, isLent: true }, count, BUCKET, piece, OWN);
  return parts;
}

describe('a maximum of 0.3', () => {
  test('30 at once, and 300/s', () => {
    const parts = partsOf(0, 0.3);
    expect(boundOf(parts, 80)).toEqual({ takeable: 30, depth: 30, perSecond: 300, comesBackPerSecond: 300 });
    parts.pass(0, 30);
    expect(boundOf(parts, 80).takeable).toBe(0);
    parts.pass(0.05, 0);
    expect(boundOf(parts, 80).takeable).toBeCloseTo(15, 9);
    parts.pass(10, 0);
    expect(boundOf(parts, 80).takeable).toBe(30);
  });

  test('what comes back may be taken again, up to the part', () => {
    const parts = partsOf(0, 0.3);
    parts.pass(0, 20);
    parts.pass(0, -15);
    expect(boundOf(parts, 80).takeable).toBe(25);
    parts.pass(0, -1000);
    parts.pass(0, 0);
    expect(boundOf(parts, 80).takeable).toBe(30);
  });

  test('a target that falls takes tokens away, and one that rises gives none', () => {
    const parts = partsOf(0, 0.3);
    const range = { minShareRatio: 0, maxShareRatio: 0.3, isLent: true };
    parts.set(range, 3, { perSecond: 100, depth: 10 }, 1, OWN);
    expect(boundOf(parts, 80).takeable).toBe(3);
    parts.set(range, 3, BUCKET, 1, OWN);
    expect(boundOf(parts, 80).takeable).toBe(3);
  });
});

describe('a minimum of 0.2', () => {
  test('is there whatever the bucket holds, and fills from empty at 200/s', () => {
    const parts = partsOf(0.2, 1);
    expect(boundOf(parts, -50).takeable).toBe(-50);
    parts.pass(0.05, 0);
    expect(boundOf(parts, -50).takeable).toBeCloseTo(10, 9);
    parts.pass(10, 0);
    expect(boundOf(parts, -50)).toEqual({ takeable: 20, depth: 100, perSecond: 500, comesBackPerSecond: 500 });
    expect(boundOf(parts, 60).takeable).toBe(60);
  });
});

describe('nothing is lent, a share of 300/s', () => {
  const range = { minShareRatio: 0, maxShareRatio: 1, isLent: false };
  const alone = (share = 300) => {
    const parts = new OwnParts();
    parts.set(range, 3, BUCKET, 1, { ...OWN, share });
    parts.pass(1, 0);
    return parts;
  };

  test('an idle node has the whole burst, and then its share', () => {
    const parts = alone();
    expect(boundOf(parts, 100)).toEqual({ takeable: 100, depth: 100, perSecond: 300, comesBackPerSecond: 300 });
    parts.pass(0, 100);
    expect(boundOf(parts, 100).takeable).toBe(0);
    parts.pass(0.1, 0);
    expect(boundOf(parts, 100).takeable).toBeCloseTo(30, 9);
  });

  test('a debt is a depth or debtMs of the share at most, whichever is more', () => {
    const parts = alone();
    parts.pass(0, 10_000);
    expect(boundOf(parts, 100).takeable).toBe(-300);
  });

  test('is forgotten once shares are lent', () => {
    const parts = alone();
    parts.pass(0, 100);
    parts.set({ ...range, isLent: true }, 3, BUCKET, 1, OWN);
    parts.pass(0, 0);
    expect(boundOf(parts, 80).takeable).toBe(80);
  });
});
