import { describe, expect, test } from 'vitest';
import { BASE_MAX, RegistryEpochs } from '../../../../src/core/beside/registry/registry-epochs.js';

describe('lasting offsets', () => {
  const author = 'a';
  const redis = 1_700_000_000 * 2 ** 20;
  const reading = (...records: readonly (readonly [base: number, offset: number, at?: number])[]) => {
    const epochs = new RegistryEpochs();
    epochs.begin('first', new Map(), 0);
    for (const [base, offset, at] of records)
      epochs.read({ kind: 'epoch', author, id: 'x', base, ...(at && { at }) }, offset);
    return epochs;
  };

  test.each([
    ['are unknown ahead of an epoch record', [], 7, null],
    ['begin at 0 behind it, wherever offsets begin', [[0, redis]], redis + 1, 0],
    [
      'are not moved by another node that begins likewise',
      [
        [0, redis],
        [0, redis + 5],
      ],
      redis + 6,
      5,
    ],
    [
      'rise where another node has read more of an earlier log',
      [
        [100, 0],
        [900, 5],
      ],
      6,
      900,
    ],
    [
      'are not moved where it has read less',
      [
        [900, 0],
        [100, 5],
      ],
      6,
      905,
    ],
    ['stay where the record was written again to renew its signature', [[100, 90, 10]], 91, 180],
  ] as const)('%s', (_, records, offset, lasting) => {
    expect(reading(...records).lastingOffsetOf(offset)).toBe(lasting);
  });

  test('are exact numbers for ever: no base is above the last one', () => {
    const epochs = reading([BASE_MAX, 0]);
    epochs.begin('second', new Map(), 10);
    expect(epochs.unwritten).toBe(BASE_MAX);
    expect(Number.isSafeInteger(2 * BASE_MAX - 1)).toBe(true);
  });
});
