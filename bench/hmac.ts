/**
 * `npm run bench:hmac [-- ROUNDS]`: CPU that signing and verifying take per record (setting topic.hmac), and what that is of
 * one core at a node of 100. Least and median of the rounds, in turn; user and system time of this process.
 */

import type { AppendRecord, ReadRecord, ReportTopic, ReportTopicListener } from '../src/base/ports/report-topic.js';
import { silentTelemetry } from '../src/base/ports/telemetry.js';
import { groupIdOf, nodeKeyOf } from '../src/core/base/ids.js';
import {
  NOTHING_REPORTED,
  nodeRecordKey,
  reportRecordKey,
  type TopicRecord,
} from '../src/core/base/protocol/record.js';
import { RecordCodec } from '../src/topic/codec/record-codec.js';
import { SignedTopic } from '../src/topic/signed/signed-topic.js';
import { createTopicCounters } from '../src/topic/topic-counters.js';

const RECORDS = 20_000;
/** Records per call: as many as one fetch brings in a large cluster. */
const BATCH = 14;
/** Records per second that a node of 100 reads, by significant changes per group and minute: docs/operate/scale.md, npm run bench:scale. */
const READ_PER_SECOND = { '0.01': 360, '0.05': 534, '0.2': 1772 };
/** Own records per second that it signs: a hundredth of that, but never fewer than its heartbeat. */
const NODES = 100;
const rounds = Number(process.argv[2] ?? 15);

/** Passes through: what is measured is the signatures alone. */
class Pipe implements ReportTopic {
  readonly partitions = 1;
  readonly counters = createTopicCounters();
  appended: AppendRecord[] = [];
  #listener: ReportTopicListener | null = null;

  async open(listener: ReportTopicListener): Promise<void> {
    this.#listener = listener;
  }

  async append(records: readonly AppendRecord[]): Promise<void> {
    this.appended.push(...records);
  }

  async close(): Promise<void> {}

  deliver(records: readonly ReadRecord[]): void {
    this.#listener?.onRecords(records);
  }
}

const nodeKey = nodeKeyOf('bench', 'node-1');
const author = { nodeKey, incarnation: 65_537, sequence: 1234 };
const row = (at: number) => ({
  ...NOTHING_REPORTED,
  groupId: groupIdOf('bench', `group-${at}`),
  direction: 0,
  topics: 3,
  usageMessages: 12.5,
  usageBytes: 51_200,
  demandMessages: 13,
  demandBytes: 53_000,
  shareMessages: 20,
  shareBytes: 80_000,
});
const report = (rows: number): TopicRecord => ({
  kind: 'report',
  author,
  rows: Array.from({ length: rows }, (_, at) => row(at)),
});
const kinds: readonly (readonly [string, string, TopicRecord])[] = [
  ['heartbeat', nodeRecordKey(nodeKey), { kind: 'node', author, nodeId: 'node-1', version: '0.1.0' }],
  ['report of 6 groups', reportRecordKey(nodeKey, 7), report(6)],
  ['report of 64 groups', reportRecordKey(nodeKey, 7), report(64)],
];

console.log(`µs of CPU per record, ${rounds} rounds of ${RECORDS}`);
console.log('record                bytes   sign min  median   verify min  median');
const costs: { sign: number; verify: number }[] = [];
for (const [name, key, record] of kinds) {
  const value = new RecordCodec('bench').encode(record);
  const [sign, verify] = await measure({ partition: 0, key, value });
  costs.push({ sign: sign.median, verify: verify.median });
  const figures = [sign.min, sign.median, verify.min, verify.median].map((us) => us.toFixed(2).padStart(8)).join(' ');
  console.log(`${name.padEnd(20)} ${String(value.length).padStart(6)} ${figures}`);
}

const { sign, verify } = costs[1];
for (const [changes, perSecond] of Object.entries(READ_PER_SECOND)) {
  const us = perSecond * verify + Math.max(1, perSecond / NODES) * sign;
  const share = ((100 * us) / 1e6).toFixed(2);
  console.log(`100 nodes, ${changes} changes per group and minute: ${perSecond} records/s read: ${share} % of a core`);
}

async function measure(record: AppendRecord) {
  const pipe = new Pipe();
  const hmac = { key: 'k'.repeat(44), nextKey: null, previousKey: null, verify: 'require' } as const;
  const options = {
    cluster: 'bench',
    log: 'reports',
    name: 'topic',
    isShared: () => false,
    hmac,
    telemetry: silentTelemetry,
  };
  const topic = new SignedTopic(pipe, options);
  let read = 0;
  const none = () => undefined;
  const onRecords = (records: readonly ReadRecord[]) => {
    read += records.length;
  };
  await topic.open({ onEpoch: none, onRecords, onCaughtUp: none, onLost: none, onRecovered: none, onFailed: none });
  const signs: number[] = [];
  const verifies: number[] = [];
  const batch = Array.from({ length: BATCH }, () => record);
  for (let round = 0; round < rounds; round++) {
    pipe.appended = [];
    const beforeSign = process.cpuUsage();
    for (let at = 0; at < RECORDS; at += BATCH) await topic.append(batch);
    signs.push(microsecondsSince(beforeSign) / pipe.appended.length);
    const delivered = pipe.appended.map((each, offset) => ({ ...each, offset, appendMs: 0 }));
    const batches = Array.from({ length: delivered.length / BATCH }, (_, at) =>
      delivered.slice(at * BATCH, (at + 1) * BATCH),
    );
    const beforeVerify = process.cpuUsage();
    for (const each of batches) pipe.deliver(each);
    verifies.push(microsecondsSince(beforeVerify) / delivered.length);
    if (read !== delivered.length) throw new Error(`${read} of ${delivered.length} records were believed`);
    read = 0;
  }
  return [summary(signs), summary(verifies)] as const;
}

function microsecondsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function summary(values: readonly number[]) {
  const sorted = [...values].sort((left, right) => left - right);
  return { min: sorted[0], median: sorted[Math.floor(sorted.length / 2)] };
}
