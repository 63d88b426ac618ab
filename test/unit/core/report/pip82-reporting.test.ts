import { expect, test } from 'vitest';
import { createLaneRates } from '../../../../src/core/report/sample/estimate.js';
import { noticedIn } from '../../../../src/core/report/sample/significant-change.js';
import { readVectors } from '../../../vectors/read-vectors.js';
import { Sampling } from '../sample/sampling.js';
import { bundleKeyText, nodeKeyText, Reading } from '../usage-map/reading.js';

interface ReportingCase {
  readonly id: string;
  readonly kind: string;
  readonly lastReported: number;
  readonly threshold: number;
  readonly send: readonly { readonly usage: number; readonly expected: boolean }[];
  readonly reports: readonly { readonly from: string; readonly usage: number; readonly stale?: true }[];
  readonly departed?: readonly string[];
  readonly expectedKnown: readonly string[];
  readonly entries: Readonly<Record<string, { readonly publishedMsg: number }>>;
  readonly expectedEntries: number;
}

const { cases } = readVectors<{ readonly cases: readonly ReportingCase[] }>('pip82.json');

function caseOf(id: string): ReportingCase {
  const found = cases.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no case ${id}`);
  return found;
}

/** Cases that other tests cover, or that say what we do differently. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'mandatory-once-in-n': 'forced re-report is timed (forcedReportMs), not counted in rounds: report/reporter.test.ts',
  'idle-groups-are-not-reported': 'report/reporter.test.ts, "nothing before there is work"',
};

test('significant-change-10-percent, where noise is no question: 1,000 times the rates of the text, known from a minute', () => {
  const { lastReported, threshold, send } = caseOf('significant-change-10-percent');
  for (const { usage, expected } of send) {
    const sampling = new Sampling();
    sampling.run(70_000, { perSecond: usage * 1000 });
    const reported = createLaneRates();
    reported.usage[0] = lastReported * 1000;
    reported.squares[0] = lastReported * 1000;
    const rule = { reads: 'usage', significantChangeRatio: threshold, noiseFactor: 5, restsOnMs: 60_000 } as const;
    expect(noticedIn(sampling.sample, reported, rule) !== -1, `usage ${usage}`).toBe(expected);
  }
});

test.each(['zero-report-removes-the-sender', 'departed-member-is-cleared', 'old-report-is-dropped'])('%s', (id) => {
  const { reports, departed = [], expectedKnown } = caseOf(id);
  const reading = new Reading();
  const senders = new Set(reports.map(({ from }) => from));
  for (const node of senders) reading.node(node, { life: 2 });
  for (const { from, usage, stale } of reports) {
    reading.report(from, usage === 0 ? {} : { group: usage }, { life: stale ? 1 : 2 });
  }
  for (const node of departed) {
    reading.farewell(node, { life: 2 });
    for (const { bundle } of reading.usageMap.keysOf(memberNamed(reading, node))) {
      reading.tombstone(bundleKeyText(node, bundle));
    }
    reading.tombstone(nodeKeyText(node));
  }
  expect(Object.keys(reading.rowsOf('group'))).toEqual(expectedKnown);
});

test('report-example: one record of several groups', () => {
  const { entries, expectedEntries } = caseOf('report-example');
  const reading = new Reading();
  reading.node('broker-1.example.com');
  const rates = Object.entries(entries).map(([group, { publishedMsg }]) => [group, publishedMsg] as const);
  reading.report('broker-1.example.com', Object.fromEntries(rates));
  expect(reading.usageMap.rows.count).toBe(expectedEntries);
  for (const [group, publishedMsg] of rates) {
    expect(reading.rowsOf(group)).toEqual({ 'broker-1.example.com': publishedMsg });
  }
});

test('every reporting case is known', () => {
  const here = ['significant-change-10-percent', 'zero-report-removes-the-sender', 'departed-member-is-cleared'];
  here.push('old-report-is-dropped', 'report-example');
  const reporting = cases.filter(({ kind }) => kind === 'reporting').map(({ id }) => id);
  expect(reporting.sort()).toEqual([...here, ...Object.keys(ELSEWHERE)].sort());
  console.log(`pip82.json: ${here.length} of ${reporting.length} reporting cases run here`);
  for (const [id, reason] of Object.entries(ELSEWHERE)) console.log(`pip82.json: ${id} not here: ${reason}`);
});

function memberNamed(reading: Reading, nodeId: string) {
  const found = [...reading.membership.all()].find((member) => member.nodeId === nodeId);
  if (found === undefined) throw new Error(`no member ${nodeId}`);
  return found;
}
