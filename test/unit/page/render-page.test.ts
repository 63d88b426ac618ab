import { describe, expect, test } from 'vitest';
import { NODES_MAX, pageSeriesOf } from '../../../sim/page/page-runs.js';
import { renderPage } from '../../../sim/page/render-page.js';
import type { Verdict } from '../../../sim/verdict/run-result.js';
import { html, jsonIn } from '../../../src/doors/page/html.js';
import { runOf } from './runs.js';

const HOSTILE = [
  `</script><script>alert(1)</script>`,
  `"'><img src=x onerror=alert(1)>`,
  '<!--',
  '\u2028',
  '&amp;',
  '$&$1',
];

describe('renderPage', () => {
  test('the same runs give the same bytes', () => {
    const runs = () => [runOf({ system: 'max-min', nodes: ['a', 'b'], seconds: 10 })];
    expect(renderPage(runs())).toBe(renderPage(runs()));
  });

  test('asks the network for nothing, and its policy would not let it', () => {
    const page = renderPage([runOf({ system: 'max-min', nodes: ['a'], seconds: 5 })]);
    const withoutLicence = page.replace(/<!-- uPlot[\s\S]*?-->/, '').replace(/<script>[\s\S]*<\/script>/, '');
    expect(withoutLicence).not.toMatch(/https?:\/\/|@import|url\(/);
    expect(page).toMatch(/content="default-src &#39;none&#39;; script-src &#39;sha256-[^"]+"/);
  });

  test('the part that was refused, a table per key, and the frontier of bursts and quotas', () => {
    const run = runOf({ system: 'max-min', nodes: ['a'], seconds: 10 });
    const other = runOf({ system: 'static', nodes: ['a'], seconds: 10 });
    const [messages] = run.series;
    const { demand, refused } = messages!.perNode.a!;
    const part = refused.reduce((sum, rate) => sum + rate, 0) / demand.reduce((sum, rate) => sum + rate, 0);
    const points = [
      { depth: 10, perSecond: 65.9, refused: 0.019, mostPerSecond: 75.9 },
      { depth: 1200, perSecond: 38.4, refused: 0.018, mostPerSecond: 1238.4 },
    ];
    const page = renderPage([run, other], '', null, {
      keys: { per: 'api_key', rows: [{ name: '<acme>', offered: 4000, refused: [1000, 40] }] },
      frontier: { of: 'messages', points, bestDepth: 10 },
    });
    const text = page.replace(/<script[\s\S]*?<\/script>/g, '');
    expect(text).toContain(
      '<th scope="col" title="Messages that were refused, of all that were asked for.">Refused</th>',
    );
    expect(text).toMatch(new RegExp(`<td( class="best")?>${(100 * part).toFixed(1)} %</td>`));
    expect(text).toContain('Refused by api_key');
    expect(text).toMatch(/&lt;acme&gt;.*4,000.*1,000 <small>25\.0 %.*40 <small>1\.0 %/s);
    expect(text.match(/<circle/g)).toHaveLength(2);
    expect(text.match(/<circle class="best"/g)).toHaveLength(1);
    expect(text).toMatch(/1,200.*38\.4.*1\.8 %.*1,238/s);
  });

  test("keeps the chart library's licence", () => {
    const page = renderPage([runOf({ system: 'max-min', nodes: ['a'], seconds: 5 })]);
    expect(page).toContain('The MIT License (MIT)');
    expect(page).toContain('Copyright (c) 2022 Leon Sorokin');
  });

  test.for(HOSTILE)('a name like %j is text everywhere', (name) => {
    const happenings = [{ atMs: 1000, says: name }];
    const plain = renderPage([runOf({ system: 'x', scenario: 'x', nodes: ['x'], seconds: 3 })], 'x');
    const page = renderPage([runOf({ system: name, scenario: name, nodes: [name], seconds: 3, happenings })], name);
    const tagsOf = (text: string) => text.match(/<\/?[a-z!][^\s>]*/gi)?.length;
    expect(tagsOf(page)).toBe(tagsOf(plain));
    const json = /<script type="application\/json" id="runs">(.*?)<\/script>/s.exec(page)?.[1] ?? '';
    expect(json).not.toMatch(/[<>&\u2028]/);
    expect(JSON.parse(json)[0].happenings).toEqual(happenings);
    expect(JSON.parse(json)[0].dimensions[0].nodes[0].name).toBe(name);
  });

  test('several scenarios or seeds are told apart', () => {
    const one = runOf({ system: 'max-min', nodes: ['a'], seconds: 3 });
    const other = runOf({ system: 'max-min', nodes: ['a'], seconds: 3, seed: 8 });
    expect(pageSeriesOf([one, other]).map(({ label }) => label)).toEqual(['max-min · seed 7', 'max-min · seed 8']);
  });

  /** The cells of each system. */
  function rowsOf(...verdicts: Partial<Verdict>[]): string[][] {
    const runs = verdicts.map((verdict, at) => {
      const one = runOf({ system: `s${at}`, nodes: ['a', 'b'], seconds: 3 });
      return { ...one, verdict: { ...(one.verdict as Verdict), ...verdict } };
    });
    const rows = [...renderPage(runs).matchAll(/<tr data-run="\d">.*?<\/tr>/gs)];
    return rows.map(([row]) => row.match(/<td.*?<\/td>/g) ?? []);
  }

  test('no tick for staying below the quota by leaving it unused', () => {
    const [wasteful, good, loose] = rowsOf(
      { overAdmission: -0.29, utilisation: 0.7 },
      { overAdmission: 0.02, utilisation: 0.99 },
      { overAdmission: 0.3, utilisation: 1 },
    );
    expect(wasteful).toContain('<td>−29.0 %</td>');
    expect(good).toContain('<td class="best">2.0 %</td>');
    expect(loose).toContain('<td>30.0 %</td>');
  });

  test('no tick for admitting more than the quota, nor for few records by that', () => {
    const [open, strict] = rowsOf({ utilisation: 1.4, records: 0 }, { utilisation: 0.97, records: 500 });
    expect(open).toEqual(expect.arrayContaining(['<td>140.0 %</td>', '<td>0</td>']));
    expect(strict).toContain('<td class="best">97.0 %</td>');
  });

  test('figures that are shown alike are ticked alike, and none where all are', () => {
    const rows = rowsOf(
      { steadyError: -0.00001, overAdmission: 0.0054, jain: 0.9999 },
      { steadyError: 0.00002, overAdmission: 0.005, jain: 0.9998 },
      { steadyError: 0.01, overAdmission: 0.1, jain: 1 },
    );
    expect(rows.map((row) => row.filter((cell) => cell.includes('best')))).toEqual([
      ['<td class="best">0.5 %</td>', '<td class="best">0.00 %</td>'],
      ['<td class="best">0.5 %</td>', '<td class="best">0.00 %</td>'],
      [],
    ]);
  });

  test('a trace with dates says when it begins, and one without does not', () => {
    const run = runOf({ system: 'max-min', nodes: ['a'], seconds: 3 });
    const page = renderPage([run], '', { begunMs: Date.UTC(2023, 10, 16, 18, 17, 3), speed: 10 });
    expect(page).toContain('begins 2023-11-16 18:17:03 UTC, played 10 times as fast');
    expect(renderPage([run])).not.toContain('begins');
  });

  test('a run without a verdict has no table', () => {
    const run = runOf({ system: 'max-min', nodes: ['a'], seconds: 3 });
    expect(renderPage([run])).toContain('<table class="verdict">');
    expect(renderPage([{ ...run, verdict: null }])).not.toContain('<table class="verdict">');
  });
});

describe('the series of the page', () => {
  const nodes = Array.from({ length: 100 }, (_, at) => `n${at}`);

  test.for([1, 11, 12, 13, 100])('%i nodes: at most 12 lines, and nobody is lost', (count) => {
    const run = runOf({ system: 'max-min', nodes: nodes.slice(0, count), seconds: 3 });
    const [{ dimensions }] = pageSeriesOf([run]) as [ReturnType<typeof pageSeriesOf>[number]];
    const [messages] = dimensions;
    expect(messages!.nodes.length).toBe(Math.min(count, NODES_MAX));
    expect(messages!.nodes.reduce((total, node) => total + node.count, 0)).toBe(count);
    messages!.total.admitted.forEach((total, at) => {
      const parts = messages!.nodes.reduce((sum, node) => sum + (node.admitted[at] as number), 0);
      // Four significant digits each.
      expect(Math.abs(parts - total)).toBeLessThanOrEqual(1e-3 * total + 1e-9);
    });
  });

  test("the cluster's bucket, and what each line was charged; a run of rates has none", () => {
    const bucketOf = (count: number, tokens: boolean) => {
      const run = runOf({ system: 'max-min', nodes: nodes.slice(0, count), seconds: 20, tokens });
      return pageSeriesOf([run])[0]!.dimensions[0]!;
    };
    expect(bucketOf(3, false).bucket).toBeNull();
    const { bucket } = bucketOf(3, true);
    const at = (sample: number) => [
      bucket!.tokens[sample],
      bucket!.depth[sample],
      bucket!.setPoint[sample],
      bucket!.correction[sample],
      bucket!.charged.map((column) => column[sample]),
    ];
    expect(at(5)).toEqual([null, null, null, null, [null, null, null]]);
    expect(at(15)).toEqual([100, 100, 30, 70, [null, null, null]]);
    expect(at(150)).toEqual([-20, 100, 30, -50, [-1, 0, 1]]);
    // Eleven lines and the others: all that was charged is in them.
    const many = bucketOf(100, true);
    const charged = many.bucket!.charged.map((column) => column[150] as number);
    expect(charged).toHaveLength(many.nodes.length);
    const all = nodes.reduce((sum, _, index) => sum + index - 1, 0);
    expect(charged.reduce((sum, units) => sum + units, 0)).toBe(all);
  });

  test('the scale of tokens reaches below 0 to the debt, and those of nodes that are summed up is their mean', async () => {
    const { scalesOf, viewOf } = await import('../../../sim/page/browser/views.mjs' as string);
    const run = runOf({ system: 'max-min', nodes, seconds: 20, tokens: true });
    const [page] = pageSeriesOf([run]);
    const { tokens, charged } = scalesOf([viewOf(page, 0, 1000)]);
    expect(tokens).toEqual([-20 * 1.06, 100 * 1.06]);
    expect(charged[1]).toBeLessThan(100 * 1.06);
  });

  test('whoever asks most has a line of its own', () => {
    const run = runOf({ system: 'max-min', nodes: [...nodes.slice(1), 'n0'], seconds: 3 });
    const loud = {
      ...run,
      series: run.series.map((series) => ({ ...series, perNode: loudest(series.perNode, 'n42') })),
    };
    expect(pageSeriesOf([loud])[0]?.dimensions[0]?.nodes.map(({ name }) => name)).toContain('n42');
  });

  test('one unlimited node makes the sum unlimited', () => {
    const run = runOf({ system: 'max-min', nodes: ['a', 'b'], seconds: 3 });
    const [series] = run.series;
    const perNode = {
      ...series!.perNode,
      b: { ...series!.perNode.b!, limit: series!.perNode.b!.limit.map(() => null) },
    };
    const [page] = pageSeriesOf([{ ...run, series: [{ ...series!, perNode }] }]);
    expect(page?.dimensions[0]?.total.limit[0]).toBeNull();
    expect(page?.dimensions[0]?.nodes[0]?.limit[0]).toBeGreaterThan(0);
  });
});

test('html escapes whatever is not html', () => {
  expect(html`<p title="${'"<&\'>'}">${html`<b>${1}</b>`}${[html`<i></i>`]}</p>`.text).toBe(
    '<p title="&quot;&lt;&amp;&#39;&gt;"><b>1</b><i></i></p>',
  );
  expect(jsonIn('</script>&\u2029').text).toBe('"\\u003c/script\\u003e\\u0026\\u2029"');
});

function loudest(perNode: ReturnType<typeof runOf>['series'][number]['perNode'], name: string) {
  const loud = perNode[name]!;
  return { ...perNode, [name]: { ...loud, demand: loud.demand.map((demand) => demand * 50) } };
}
