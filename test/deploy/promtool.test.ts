import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { ALERT_SCENES, MINUTES, seriesOf } from './alert-scenes.js';
import { findPromtool, WHAT_TO_INSTALL } from './promtool.js';
import { ALERT_FILE, dashboardQueries, shippedAlerts, withoutIntervals } from './shipped-files.js';

const promtool = await findPromtool();

describe.skipIf(promtool === null)(promtool === null ? `promtool (${WHAT_TO_INSTALL})` : 'promtool', () => {
  test('takes the alerts', () => {
    expect(says(['check', 'rules', ALERT_FILE])).toContain(`SUCCESS: ${shippedAlerts().length} rules found`);
  });

  test('takes every query of the dashboard', () => {
    const exprs = [...new Set(dashboardQueries().map(({ expr }) => withoutIntervals(expr)))];
    const rules = exprs.map((expr, at) => ({ record: `panel:${at}`, expr }));
    const said = says(['check', 'rules'], { groups: [{ name: 'dashboard', rules }] });
    expect(said).toContain(`SUCCESS: ${rules.length} rules found`);
  });

  test('in its scene every alert fires, it alone; none fires while two nodes are well', () => {
    // A job each, in one run: promtool takes a second for every run. What waits longest waits an hour.
    const scenes = ALERT_SCENES.map(({ alert, series }) => ({ job: `quotamesh-${alert}`, alert, series }));
    const input = [...scenes, { job: 'quotamesh-well', series: {} }].flatMap(({ job, series }) =>
      seriesOf(job, series),
    );
    const expected = scenes.map(({ job, alert }) => ({ labels: `{alertname="${alert}", job="${job}"}`, value: 1 }));
    const expr = 'count by (alertname, job) (ALERTS{alertstate="firing"})';
    const firing = [{ expr, eval_time: `${MINUTES}m`, exp_samples: expected }];
    const tests = [{ interval: '1m', input_series: input, promql_expr_test: firing }];
    expect(says(['test', 'rules'], { rule_files: [ALERT_FILE], evaluation_interval: '10m', tests })).toContain(
      'SUCCESS',
    );
  });
});

/** What it prints of a file with this content; fails the test, with that, where it fails. */
function says(args: readonly string[], content?: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'quotamesh-promtool-'));
  const file = join(folder, 'file.yml');
  if (content !== undefined) writeFileSync(file, stringify(content));
  const all = [...args, ...(content === undefined ? [] : [file])];
  const { status, stdout, stderr } = spawnSync(promtool as string, all, { encoding: 'utf8' });
  rmSync(folder, { recursive: true });
  expect(status, `${stdout}\n${stderr}`).toBe(0);
  return stdout;
}
