import { describe, expect, test } from 'vitest';
import { figuresOf } from '../simulation/tokens/figures.js';
import { median } from '../simulation/tokens/play.js';

const SEEDS = Array.from({ length: 16 }, (_, at) => 9101 + at);

/**
 * Wishes that are missed: a spike of four times the quota that begins at all nodes within one delivery takes what each
 * of them may take of the bucket. A test fails when one of these is met after all. Figures: docs/guide/tokens.md.
 */
const MISSED: Readonly<Record<string, number>> = {
  '5 nodes, 50 ms': 0.034,
  '10 nodes, 200 ms': 0.036,
  '30 nodes, 50 ms': 0.026,
};
/** The same for the median of the worst seconds beside the central bucket's. */
const SECOND_MISSED: Readonly<Record<string, number>> = { '10 nodes, 200 ms': 0.052 };

describe.each([3, 5, 10, 30])('demand that moves every second, %d nodes, sixteen seeds', (nodes) => {
  test.each([5, 50, 200])('delivery in %d ms', (deliveryMs) => {
    const all = SEEDS.map((seed) => figuresOf(seed, nodes, deliveryMs));
    const over = all.map(({ over5s }) => over5s);
    const second = all.map(({ secondBesideCentral }) => secondBesideCentral);
    const used = Math.min(...all.map((figures) => figures.used));
    const [median5, worst5] = [median(over), Math.max(...over)];
    const reports = median(all.map(({ reportsPerSecond }) => reportsPerSecond));
    process.stdout.write(
      `${nodes} nodes, ${deliveryMs} ms: over 5 s ${percent(median5)} / ${percent(worst5)}, second beside central ` +
        `${median(second).toFixed(3)} / ${Math.max(...second).toFixed(3)}, used ${percent(used)}, ${reports.toFixed(2)} reports/s\n`,
    );
    expect(median5).toBeLessThanOrEqual(0.02);
    const wished = deliveryMs > 100 ? 0.03 : 0.025;
    const row = `${nodes} nodes, ${deliveryMs} ms`;
    expectWished(worst5, wished, MISSED[row]);
    expectWished(median(second), 0.05, SECOND_MISSED[row]);
    expect(used).toBeGreaterThanOrEqual(0.99);
    expect(reports).toBeLessThanOrEqual(0.5);
  });
});

function expectWished(figure: number, wished: number, missed: number | undefined): void {
  expect(figure).toBeLessThanOrEqual(missed ?? wished);
  if (missed !== undefined) expect(figure).toBeGreaterThan(wished);
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}
