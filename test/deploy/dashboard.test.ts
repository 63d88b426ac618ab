import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Dashboard, Panel } from '@grafana/schema';
import { beforeAll, describe, expect, test } from 'vitest';
import { type KnownMetrics, knownMetrics, unknownIn } from './known-metrics.js';
import { DASHBOARD_FILE, dashboardQueries, withoutIntervals } from './shipped-files.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const json = readFileSync(DASHBOARD_FILE, 'utf8');
const dashboard = JSON.parse(json) as Dashboard;
const panels = (dashboard.panels ?? []) as Panel[];
const queries = dashboardQueries();
/** `label_values(METRIC, LABEL)` of the variables. */
const variables = (dashboard.templating?.list ?? [])
  .map(({ name, query }) => ({ name, text: typeof query === 'string' ? query : String(query?.query ?? '') }))
  .map(({ name, text }) => ({ name, asked: /^label_values\((.*), (\w+)\)$/.exec(text) }));

describe('deploy/grafana/quotamesh.json', () => {
  let known: KnownMetrics;
  beforeAll(async () => {
    known = await knownMetrics();
  });

  test.each(queries)('$panel: $expr', ({ expr, legend }) => {
    expect(unknownIn(withoutIntervals(expr), known)).toEqual([]);
    expect(legend).not.toBe('');
    const used = [...expr.matchAll(/"\$(\w+)"/g)].map(([, name]) => name);
    expect(variables.map(({ name }) => name)).toEqual(expect.arrayContaining(used));
  });

  test('the variables ask for what nodes export', () => {
    const asked = variables.filter((one) => one.asked !== null);
    expect(asked.map(({ name }) => name)).toEqual(['job', 'instance', 'group']);
    for (const [, selector, label] of asked.map((one) => one.asked!)) {
      expect(unknownIn(`count by (${label}) (${selector})`, known)).toEqual([]);
    }
  });

  test('shows quota, share, usage and demand of a group', () => {
    const shown = queries.map(({ expr }) => expr).join('\n');
    const rates = ['quota', 'share', 'usage', 'demand'].flatMap((what) =>
      ['messages', 'bytes'].map((dimension) => `quotamesh_group_${what}_${dimension}_per_second`),
    );
    for (const metric of rates) expect(shown).toContain(metric);
  });

  test('no panel covers another, and each has an id of its own', () => {
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos, title }) => {
      const { x, y, w, h } = gridPos!;
      expect(x + w, title).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
  });

  test('has the shape that Grafana’s own types ask for, down to the options of each panel', () => {
    const misspelled = {
      type: 'timeseries',
      fieldConfig: { defaults: { custom: { fillOpacitty: 1 } }, overrides: [] },
    };
    const errors = typeErrors([json, JSON.stringify({ panels: [misspelled] })]);
    // One is there on purpose: it shows that others would be found.
    expect(errors.split('\n').filter((line) => line.includes('error'))).toEqual([
      expect.stringContaining('fillOpacitty'),
    ]);
  });
});

/** What TypeScript says by Grafana's types; its packages have no JSON schema of a dashboard. */
function typeErrors(dashboards: readonly string[]): string {
  const kept = join(root, 'node_modules/.cache');
  mkdirSync(kept, { recursive: true });
  const folder = mkdtempSync(join(kept, 'quotamesh-dashboard-'));
  const file = join(folder, 'dashboard.ts');
  const values = dashboards.map((written, at) => `export const d${at}: Checked = ${written};\n`);
  writeFileSync(file, `${TYPES}${values.join('')}`);
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig', '--types', 'node'];
  const modules = ['--module', 'nodenext', '--target', 'es2023'];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = spawnSync(process.execPath, [tsc, ...flags, ...modules, file], { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  return stdout;
}

/** Enums are their values in JSON; options and custom fields are those of the panel's kind. */
const TYPES = `
import type { Dashboard, Panel, RowPanel } from '@grafana/schema';
import type { FieldConfig, Options } from
  '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
import type { Options as StatOptions } from
  '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
type Json<T> = T extends string ? \`\${T}\` : T extends (infer One)[] ? Json<One>[]
  : T extends object ? { [Key in keyof T]: Json<T[Key]> } : T;
type Of<Kind, Shape> = Omit<Shape, 'type'> & { type: Kind };
type Parts<T> = { [Key in keyof T]?: T[Key] extends object | undefined ? Parts<T[Key]> : T[Key] };
type Strict<O, F> = Omit<Panel, 'options' | 'fieldConfig'> & { options?: Parts<O>; fieldConfig?: {
  defaults: Omit<NonNullable<Panel['fieldConfig']>['defaults'], 'custom'> & { custom?: Parts<F> };
  overrides: NonNullable<Panel['fieldConfig']>['overrides'] } };
type Checked = Partial<Json<Omit<Dashboard, 'panels'>>> & { panels: (
  Json<Of<'row', RowPanel>> | Json<Of<'timeseries', Strict<Options, FieldConfig>>> |
  Json<Of<'stat', Strict<StatOptions, {}>>>)[] };
`;
