/**
 * `npm run bench:rows [-- --changes 0.01,0.05,0.2]`: what a node of bench:scale would read if rows that have changed were
 * written into records of their own, instead of the whole record of up to six groups that they stand in.
 *
 * The records of ten nodes are written in virtual time and decoded again; the sums are those of a hundred.
 */
import { parseArgs } from 'node:util';
import type { AppendRecord } from '../src/base/ports/report-topic.js';
import type { ReportRecord, ReportRow } from '../src/core/base/protocol/record.js';
import { RecordCodec } from '../src/topic/codec/record-codec.js';
import { scaleConfig } from './scale/scale-config.js';
import { trafficOf } from './scale/traffic.js';

const { values } = parseArgs({ options: { changes: { type: 'string', default: '0.01,0.05,0.2' } } });
const NODES = 10;
const NODES_OF_SCENARIO = 100;
const SECONDS = 60;
/** The publications of unchanged records are spread over the last tenth of their period. */
const FORCED_RATIO = 0.95;
const { timing, groups, sampleIntervalMs, cluster, limiting, costs, limits } = scaleConfig(1, {});
const { maxNodes, maxRows, maxGroupsPerNode } = limits;
const settings = { ...timing, maxNodes, maxRows, maxGroupsPerNode, sampleIntervalMs, cluster, limiting, costs, groups };
const core = { ...settings, version: '0.1.0', nonce: 1, nodeId: '', partitions: 1 };
const codec = new RecordCodec(cluster);

for (const changesPerMinute of values.changes.split(',').map(Number)) measure(changesPerMinute);

function measure(changesPerMinute: number): void {
  const scale = { nodes: NODES, groupsPerNode: 5000, nodesPerGroup: 5, changesPerMinute, seconds: SECONDS };
  const { history, produces } = trafficOf(scale, core, core.groups[0]);
  const known = new Map<string, ReadonlyMap<string, string>>();
  for (const record of history) changedIn(record, known);
  const sums = { unchanged: 0, changed: 0, own: 0, records: 0, rows: 0, beats: 0 };
  for (const record of produces.flatMap(({ records }) => records)) {
    const bytes = record.key.length + (record.value?.length ?? 0);
    const report = changedIn(record, known);
    if (report === null) sums.beats += bytes;
    else if (report.rows.length === 0) sums.unchanged += bytes;
    else {
      sums.records++;
      sums.rows += report.rows.length;
      sums.changed += bytes;
      sums.own += record.key.length + codec.encode(report).length;
    }
  }
  const perMinute = (bytes: number) => ((bytes * NODES_OF_SCENARIO * 60) / NODES / SECONDS / 1e6).toFixed(2);
  // A record that is not written with its changes is written whole in its turn, as one without changes is.
  const wholeBytes = history.reduce((sum, { key, value }) => sum + key.length + (value?.length ?? 0), 0);
  const forced = (wholeBytes * SECONDS * 1000) / (FORCED_RATIO * timing.forcedReportMs);
  const today = sums.unchanged + sums.changed + sums.beats;
  console.log(
    `${changesPerMinute} changes: ${perMinute(today)} MB/min today (${perMinute(sums.unchanged)} unchanged, ` +
      `${perMinute(sums.changed)} changed at ${(sums.changed / sums.records).toFixed(0)} bytes, ` +
      `${(sums.rows / sums.records).toFixed(2)} rows of each); with rows of their own ` +
      `${perMinute(forced + sums.own + sums.beats)} (${perMinute(forced)} unchanged, ${perMinute(sums.own)} changed ` +
      `at ${(sums.own / sums.records).toFixed(0)} bytes)`,
  );
}

/** The report with those rows alone that differ from the record before of its key; null for other records. */
function changedIn({ key, value }: AppendRecord, known: Map<string, ReadonlyMap<string, string>>): ReportRecord | null {
  const decoded = value === null ? null : codec.decode(value);
  if (decoded === null || !('record' in decoded) || decoded.record.kind !== 'report') return null;
  const { record } = decoded;
  const before = known.get(key);
  known.set(key, new Map(record.rows.map((row) => [nameOf(row), JSON.stringify(row)])));
  return { ...record, rows: record.rows.filter((row) => before?.get(nameOf(row)) !== JSON.stringify(row)) };
}

function nameOf({ groupId, direction }: ReportRow): string {
  return `${groupId}/${direction}`;
}
