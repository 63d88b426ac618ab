import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALERT_SCENES } from './alert-scenes.js';
import { type KnownMetrics, knownMetrics, SCRAPE_LABELS, unknownIn } from './known-metrics.js';
import { readQuery } from './promql.js';
import { shippedAlerts } from './shipped-files.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const alerts = shippedAlerts();
const names = alerts.map(({ alert }) => alert);

describe('every alert', () => {
  let known: KnownMetrics;
  beforeAll(async () => {
    known = await knownMetrics();
  });

  test.each(alerts)('$alert names what nodes export, and nothing else', ({ expr, annotations }) => {
    expect(unknownIn(expr, known)).toEqual([]);
    const metrics = readQuery(expr).selectors.map(({ metric }) => known.get(metric)!);
    const labels = new Set([...SCRAPE_LABELS, ...metrics.flatMap((values) => [...values.keys()])]);
    const shown = Object.values(annotations).flatMap((text) => [...text.matchAll(/\$labels\.(\w+)/g)]);
    for (const [, label] of shown) expect([...labels]).toContain(label);
  });

  test('each reason for which a node is degraded has one, but for a new epoch, which settles by itself', () => {
    const reasons = [...(known.get('quotamesh_degraded')?.get('reason') ?? [])];
    const told = reasons.filter((reason) => alerts.some(({ expr }) => expr.includes(`reason="${reason}"`)));
    expect(told).toContain('reports-wait');
    expect(reasons.filter((reason) => !told.includes(reason))).toEqual(['epoch']);
  });

  test('an unknown metric, label or value is found', () => {
    expect(unknownIn('quotamesh_radey == 0', known)).toEqual(['quotamesh_radey']);
    expect(unknownIn('sum by (grop) (quotamesh_ready)', known)).toEqual(['grop']);
    expect(unknownIn('quotamesh_degraded{reason="lost"}', known)).toEqual(['quotamesh_degraded{reason="lost"}']);
    expect(() => unknownIn('sum(quotamesh_ready', known)).toThrow('not PromQL');
  });

  test('has a severity, a summary, a description, and a section of docs/operate/alerts.md; no section is without alert', () => {
    const sections = [...readFileSync(join(root, 'docs/operate/alerts.md'), 'utf8').matchAll(/^### (\w+)$/gm)];
    expect(sections.map(([, name]) => name)).toEqual(names);
    for (const { alert, labels, annotations } of alerts) {
      expect(['critical', 'warning', 'info'], alert).toContain(labels.severity);
      expect(Object.keys(annotations), alert).toEqual(['summary', 'description', 'runbook_url']);
      expect(annotations.runbook_url).toBe(`docs/operate/alerts.md#${alert.toLowerCase()}`);
    }
  });

  test('has a scene in which it fires (promtool.test.ts)', () => {
    expect(ALERT_SCENES.map(({ alert }) => alert)).toEqual(names);
  });
});
