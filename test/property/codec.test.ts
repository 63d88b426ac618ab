import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Random } from '../../sim/cluster/random.js';
import { clusterHashOf, groupIdOf, incarnationOf, isWideId, nodeKeyOf } from '../../src/core/base/ids.js';
import {
  NOTHING_REPORTED,
  nodeRecordKey,
  type ReportRow,
  reportRecordKey,
  type TopicRecord,
} from '../../src/core/base/protocol/record.js';
import { DECODE_CAUSES, MAGIC, WIRE_VERSION } from '../../src/topic/codec/envelope.js';
import { quotamesh } from '../../src/topic/codec/generated/report.js';
import { type Decoded, RecordCodec } from '../../src/topic/codec/record-codec.js';
import { GROUP, SETTINGS } from '../simulation/settings.js';
import { wideId } from '../wide-ids.js';
import { Follower } from './follower.js';
import { drawn, partOf } from './seed.js';

const RECORDS = partOf(100_000);
const SEED = 20_261_121;
const wire = quotamesh.v1;
const codec = new RecordCodec(SETTINGS.cluster);
const settings = {
  ...SETTINGS,
  nodeId: 'reader',
  nonce: 1,
  groups: [{ ...GROUP, quota: { ...GROUP.quota, publish: [1000, 1e6] as const } }],
};
const EXTREMES = [0, 1e-45, 1, 1e12, 3.4e38, -1, -0, Number.NaN, Infinity, -Infinity, 1e39];

// Half of the values make protobufjs throw; the stack traces alone would take ten seconds.
const stackTraceLimit = Error.stackTraceLimit;
beforeAll(() => {
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

/** A reader of a living cluster of three: what junk could change is there. */
function readerOfThree() {
  const follower = new Follower(settings);
  let offset = 0;
  const read = (key: string, record: TopicRecord) =>
    follower.read({ partition: 0, offset: offset++, appendMs: 1000, key, record });
  for (const [at, nodeId] of ['a', 'b', 'c'].entries()) {
    const nodeKey = nodeKeyOf(settings.cluster, nodeId);
    const author = { nodeKey, incarnation: incarnationOf(1, at), sequence: 1 };
    read(nodeRecordKey(nodeKey), { kind: 'node', author, nodeId, version: 'test' });
    const rows = [rowOf(at * 300)];
    read(reportRecordKey(nodeKey, 0), { kind: 'report', author: { ...author, sequence: 2 }, rows });
  }
  return { follower, read };
}

function rowOf(rate: number): ReportRow {
  const rates = { usageMessages: rate, usageBytes: rate * 100, demandMessages: rate, demandBytes: rate * 100 };
  return {
    ...NOTHING_REPORTED,
    groupId: groupIdOf(settings.cluster, 'orders'),
    direction: 0,
    topics: 1,
    ...rates,
  };
}

/** A real record of a cluster, with every field of a size that occurs. */
function realRecord(random: Random): Uint8Array {
  const pick = Math.floor(random.between(0, 6));
  const nodeId = `node-${Math.floor(random.between(0, 9))}`;
  const author = {
    nodeKey: nodeKeyOf(settings.cluster, nodeId),
    incarnation: incarnationOf(1 + pick, 9),
    sequence: 1 + pick,
  };
  if (pick === 0) return codec.encode({ kind: 'node', author, nodeId, version: '0.1.0' });
  if (pick === 1) return codec.encode({ kind: 'farewell', author, nodeId });
  if (pick === 4) {
    const health = { kind: 'level', level: random.between(0, 1e9), target: 8e8, spring: 2e8 } as const;
    return codec.encode({ kind: 'backend', author, backend: nodeId, zone: 'z', health });
  }
  if (pick === 5) {
    const state = {
      groupId: wideId(7),
      direction: 1,
      ceiling: random.between(0, 1e6),
      lateMs: 20,
      readUntilMs: 1.7e12,
      readUntilOffset: 99,
      timeToLiveMs: 180_000,
    };
    return codec.encode({ kind: 'group-state', author, ...state });
  }
  const rows = Array.from({ length: Math.floor(random.between(0, 12)) }, () => {
    const backends = [
      { backend: wideId(7), cost: 5 },
      ...(random.next() < 0.5 ? [{ backend: wideId(0), cost: 1 }] : []),
    ];
    const costs = random.next() < 0.5 ? {} : { costs: { transactions: Math.fround(random.between(0, 99)), backends } };
    return { ...rowOf(random.between(0, 1e4)), ...costs };
  });
  return codec.encode({ kind: 'report', author, rows });
}

function bytes(random: Random, length: number): Uint8Array {
  const made = new Uint8Array(length);
  for (let at = 0; at < made.length; at++) made[at] = random.between(0, 256);
  return made;
}

/** Enough different ones; encoding each anew would be most of the test's time. */
const REAL = Array.from({ length: 400 }, (_, at) => realRecord(new Random(SEED + at)));

/** A real record with some bytes changed, cut off or appended. */
function mutated(random: Random): Uint8Array {
  const value = REAL[Math.floor(random.between(0, REAL.length))].slice();
  for (let change = 0; change < random.between(1, 5); change++) {
    value[Math.floor(random.between(0, value.length))] = random.between(0, 256);
  }
  const shape = random.next();
  if (shape < 0.1) return value.subarray(0, Math.floor(random.between(0, value.length)));
  return shape < 0.2 ? Uint8Array.of(...value, ...bytes(random, random.between(1, 20))) : value;
}

/** A correct envelope and checksum around anything. */
function sealed(random: Random, kind: number, body: Uint8Array): Uint8Array {
  const envelope = { magic: MAGIC, wireVersion: WIRE_VERSION, clusterHash: clusterHashOf(settings.cluster) };
  const foreign = random.next();
  if (foreign < 0.1) envelope.clusterHash += 1;
  else if (foreign < 0.2) envelope.wireVersion = Math.floor(random.between(2, 99));
  return wire.Envelope.encode({ ...envelope, crc32: crc32(body), kind, body }).finish();
}

function sealedJunk(random: Random): Uint8Array {
  const kind = Math.floor(random.between(0, 9));
  if (random.next() < 0.5) return sealed(random, kind, bytes(random, random.between(0, 120)));
  return sealed(random, kind, mutated(random));
}

function extremeReport(random: Random): Uint8Array {
  const count = Math.floor(random.between(0, 4));
  const column = () =>
    Array.from(
      { length: random.next() < 0.9 ? count : count + 1 },
      () => EXTREMES[Math.floor(random.between(0, EXTREMES.length))],
    );
  const author = { nodeKey: bytes(random, random.next() < 0.9 ? 6 : 5), incarnation: 1, nonce: 3, sequence: 1 };
  const rates = { usageMessagesPerSecond: column(), demandMessagesPerSecond: column(), demandBytesPerSecond: column() };
  return sealed(
    random,
    wire.Kind.REPORT,
    wire.Report.encode({ author, groupIds: bytes(random, count * 6), ...rates }).finish(),
  );
}

/** The name of a node under a key of its own making. */
function borrowedName(random: Random): Uint8Array {
  const author = { nodeKey: bytes(random, 6), incarnation: 1, nonce: 3, sequence: 1 };
  return sealed(random, wire.Kind.NODE, wire.Node.encode({ author, nodeId: 'a' }).finish());
}

const junk = (random: Random) => bytes(random, random.between(0, 200));
const MAKERS = [junk, mutated, sealedJunk, extremeReport, borrowedName];

test(`${RECORDS.toLocaleString('en')} random and mutated records crash no reader, and none that fails the envelope changes a share`, () => {
  const random = new Random(SEED + drawn);
  const { follower } = readerOfThree();
  const before = follower.shares();
  const counts = new Map<string, number>();
  for (let record = 0; record < RECORDS; record++) {
    const value = MAKERS[record % MAKERS.length](random);
    const decoded = codec.decode(value);
    const cause = 'cause' in decoded ? decoded.cause : 'taken';
    counts.set(cause, (counts.get(cause) ?? 0) + 1);
    if ('record' in decoded) expectSane(decoded);
  }
  // What fails the envelope never reaches the core, so nothing can have changed.
  expect(follower.shares()).toEqual(before);
  console.log(`seed ${SEED + drawn}: ${[...counts].map(([cause, count]) => `${cause} ${count}`).join(', ')}`);
  for (const cause of DECODE_CAUSES)
    if (cause !== 'too-large') expect(counts.get(cause), cause).toBeGreaterThan(partOf(100));
  expect(counts.get('taken')).toBeGreaterThan(partOf(1000));
});

test('whatever passes the envelope keeps the shares finite, ≥ 0 and within the target', () => {
  const random = new Random(SEED + 10 + drawn);
  const { follower, read } = readerOfThree();
  let taken = 0;
  for (let record = 0; record < partOf(20_000); record++) {
    const decoded = codec.decode(MAKERS[1 + (record % 3)](random));
    if (!('record' in decoded)) continue;
    taken++;
    const { nodeKey } = decoded.record.author;
    const key = decoded.record.kind === 'report' ? reportRecordKey(nodeKey, record % 5) : nodeRecordKey(nodeKey);
    read(key, hostile(decoded.record, random));
    if (taken % 20 === 0) expectWithinTarget(follower);
  }
  console.log(`${taken} records taken, ${follower.membership.alive.length} nodes alive`);
  expectWithinTarget(follower);
});

test('decoding takes bounded time: 64 KiB of anything in a few milliseconds', () => {
  const random = new Random(SEED + 2);
  const startMs = performance.now();
  for (let round = 0; round < 50; round++) {
    codec.decode(bytes(random, 64 * 1024));
    codec.decode(sealed(random, wire.Kind.REPORT, bytes(random, 60 * 1024)));
    const packed = wire.Report.encode({ topics: new Array<number>(15_000).fill(1e9) }).finish();
    codec.decode(sealed(random, wire.Kind.REPORT, packed.subarray(0, 60_000)));
  }
  expect((performance.now() - startMs) / 150).toBeLessThan(50);
});

/** Rows that name our group, so that extreme rates reach the shares. */
function hostile(record: TopicRecord, random: Random): TopicRecord {
  if (record.kind !== 'report' || random.next() < 0.3) return record;
  return { ...record, rows: record.rows.map((row) => ({ ...row, groupId: groupIdOf(settings.cluster, 'orders') })) };
}

function expectSane(decoded: Decoded): void {
  if (!('record' in decoded) || decoded.record.kind !== 'report') return;
  for (const { groupId, topics, costs, charge = [0, 0], stock = [0, 0], unread = [0, 0], ...rates } of decoded.record
    .rows) {
    for (const units of stock)
      if (units === Infinity || units === -Infinity) throw new Error(`stock ${units} was taken`);
    for (const units of unread) if (!(units >= 0)) throw new Error(`unread ${units} was taken`);
    for (const units of charge) if (!Number.isFinite(units)) throw new Error(`charge ${units} was taken`);
    const { transactions = 0, backends = [] } = costs ?? {};
    for (const rate of [...Object.values(rates), transactions, ...backends.map(({ cost }) => cost)])
      if (!(rate >= 0 && rate < Infinity)) throw new Error(`rate ${rate} was taken`);
    if (!(isWideId(groupId) && topics >= 0)) throw new Error(`group ${groupId} was taken`);
  }
}

function expectWithinTarget(follower: Follower): void {
  for (const { shares, target } of follower.shares()) {
    shares.forEach((column, dimension) => {
      const total = column.reduce((sum, share) => sum + share, 0);
      const limit = target[dimension];
      if (!(total <= limit * (1 + 1e-9)) || column.some((share) => !(share >= 0))) {
        throw new Error(`Σ shares ${total} of ${limit}`);
      }
    });
  }
}
