import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatQuantity, parseQuantity, type QuantityKind } from '../../../src/config/setting/quantity.js';

describe('a quantity', () => {
  test.each<[QuantityKind, number | string, number]>([
    ['duration', 250, 250],
    ['duration', '250', 250],
    ['duration', '500ms', 500],
    ['duration', '1s', 1000],
    ['duration', '1.5 s', 1500],
    ['duration', '2m', 120_000],
    ['duration', '1h', 3_600_000],
    ['duration', '7d', 604_800_000],
    ['rate', '1000', 1000],
    ['rate', '10k', 10_000],
    ['rate', '10k/s', 10_000],
    ['rate', '0.5', 0.5],
    ['rate', '2Ki', 2048],
    ['rate', '-5', -5],
    ['rate', '5/s', 5],
    ['rate', '600/min', 10],
    ['rate', '5/minute', 5 / 60],
    ['rate', '100/h', 100 / 3600],
    ['rate', '100/hour', 100 / 3600],
    ['rate', '10000/d', 10_000 / 86_400],
    ['rate', '10k/day', 10_000 / 86_400],
    ['rate', '7/week', 1 / 86_400],
    ['rate', '30/month', 1 / 86_400],
    ['rate', '365/year', 1 / 86_400],
    ['rate', '2Ki/second', 2048],
    ['byte-rate', '60MiB/min', 1_048_576],
    ['byte-rate', '1MiB', 1_048_576],
    ['byte-rate', '1Mi', 1_048_576],
    ['byte-rate', '1MB/s', 1_000_000],
    ['byte-rate', '1kB', 1000],
    ['bytes', '16KiB', 16_384],
    ['bytes', '512B', 512],
    ['count', '1e3', 1000],
    ['ratio', '25%', 0.25],
    ['ratio', '7%', 0.07],
    ['ratio', '.5', 0.5],
    ['factor', '2', 2],
  ])('of kind %s: %j is %d', (kind, text, value) => {
    expect(parseQuantity(kind, text)).toBe(value);
  });

  test.each<[QuantityKind, string]>([
    ['duration', '1 minute'],
    ['duration', '1M'],
    ['duration', ''],
    ['duration', 's'],
    ['rate', '1KB'],
    ['rate', '1K'],
    ['rate', '10k/m'],
    ['rate', '5/fortnight'],
    ['rate', '5/'],
    ['rate', '/min'],
    ['rate', '5/min/min'],
    ['rate', '5/MIN'],
    ['duration', '5/min'],
    ['count', '5/min'],
    ['bytes', '1MiB/s'],
    ['ratio', '5k'],
    ['factor', '5%'],
    ['count', '1,000'],
    ['count', '0x10'],
    ['count', '1_000'],
    ['count', 'NaN'],
    ['rate', `5${' '.repeat(200)}k`],
    ['duration', `${' '.repeat(200)}1s`],
    ['count', '9'.repeat(400)],
  ])('of kind %s is not %j', (kind, text) => {
    expect(parseQuantity(kind, text)).toBeNaN();
  });

  test('is read back as the number it was printed from', () => {
    const kinds = fc.constantFrom<QuantityKind>('duration', 'count', 'rate', 'byte-rate', 'bytes', 'ratio', 'factor');
    const steps = fc.constantFrom(1, 10, 1000, 1024, 60_000, 1_048_576);
    fc.assert(
      fc.property(kinds, fc.nat({ max: 1_000_000 }), steps, (kind, amount, step) => {
        expect(parseQuantity(kind, formatQuantity(kind, amount * step))).toBe(amount * step);
      }),
    );
  });
});
