import { describe, expect, test } from 'vitest';
import { medianOf } from '../../src/tools/load/quantile.js';
import { figuresOf } from '../simulation/tokens/figures.js';

const SEEDS = Array.from({ length: 16 }, (_, at) => 9301 + at);

/** Wished for are 0.5: what is told so late goes the same way at all nodes, so that they speak sooner (decision 0070). */
const REPORTS_MISSED: Readonly<Record<string, number>> = { '30 nodes, 200 ms': 0.6 };

describe.each([3, 5, 10, 30])('demand that moves every second, %d nodes, sixteen seeds', (nodes) => {
  test.each([5, 50, 200])('delivery in %d ms', (deliveryMs) => {
    const all = SEEDS.map((seed) => figuresOf(seed, nodes, deliveryMs));
    const over = all.map(({ over5s }) => over5s);
    const second = all.map(({ secondBesideCentral }) => secondBesideCentral);
    const used = Math.min(...all.map((figures) => figures.used));
    const [median5, worst5] = [medianOf(over), Math.max(...over)];
    const reports = medianOf(all.map(({ reportsPerSecond }) => reportsPerSecond));
    process.stdout.write(
      `${nodes} nodes, ${deliveryMs} ms: over 5 s ${percent(median5)} / ${percent(worst5)}, second beside central ` +
        `${medianOf(second).toFixed(3)} / ${Math.max(...second).toFixed(3)}, used ${percent(used)}, ${reports.toFixed(2)} reports/s\n`,
    );
    expect(median5).toBeLessThanOrEqual(0.02);
    const wished = deliveryMs > 100 ? 0.03 : 0.025;
    expect(worst5).toBeLessThanOrEqual(wished);
    expect(medianOf(second)).toBeLessThanOrEqual(0.05);
    expect(used).toBeGreaterThanOrEqual(0.99);
    expect(reports).toBeLessThanOrEqual(REPORTS_MISSED[`${nodes} nodes, ${deliveryMs} ms`] ?? 0.5);
  });
});

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}
