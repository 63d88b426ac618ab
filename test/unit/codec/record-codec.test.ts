import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { KEY_ROWS_MAX, NODES_MAX } from '../../../src/core/base/constants.js';
import { clusterHashOf, incarnationOf, nodeKeyOf } from '../../../src/core/base/ids.js';
import {
  type KeyRow,
  NOTHING_REPORTED,
  type ReportRow,
  type TopicRecord,
} from '../../../src/core/base/protocol/record.js';
import { MAGIC, MAX_RECORD_BYTES, WIRE_VERSION } from '../../../src/topic/codec/envelope.js';
import { quotamesh } from '../../../src/topic/codec/generated/report.js';
import { RecordCodec } from '../../../src/topic/codec/record-codec.js';
import { wideId } from '../../wide-ids.js';

const wire = quotamesh.v1;
const codec = new RecordCodec('demo');
const author = { nodeKey: nodeKeyOf('demo', 'a'), incarnation: incarnationOf(3, 77), sequence: 12 };

const COSTS = {
  transactions: 10,
  backends: [
    { backend: wideId(2 ** 48 - 1), cost: 60.5 },
    { backend: wideId(0), cost: 1 },
  ],
};

function row(changes: Partial<ReportRow> = {}): ReportRow {
  const rates = { usageMessages: 1.5, usageBytes: 100, demandMessages: 2000.25, demandBytes: 1e6 };
  return {
    ...NOTHING_REPORTED,
    groupId: wideId(2 ** 48 - 1),
    direction: 1,
    topics: 3,
    ...rates,
    ...changes,
  };
}

function keyRow(changes: Partial<KeyRow> = {}): KeyRow {
  return { groupId: wideId(2 ** 48 - 1), direction: 1, name: 'key:acme', messages: 1.5, bytes: 1e6, ...changes };
}

/** A NODE record that names a key, or with columns that do not fit together. */
function naming(changes: Partial<quotamesh.v1.INode>): Uint8Array {
  const wireAuthor = { nodeKey: new Uint8Array(6).fill(1), incarnation: 1, nonce: 0, sequence: 1 };
  const said = { author: wireAuthor, nodeId: 'a', keyGroupIds: new Uint8Array(12), keyNames: ['key:acme'], ...changes };
  return envelope(wire.Kind.NODE, wire.Node.encode(said).finish());
}

/** An envelope around any body; correct unless told otherwise. */
function envelope(kind: number, body: Uint8Array, changes: Partial<quotamesh.v1.IEnvelope> = {}): Uint8Array {
  const correct = { magic: MAGIC, wireVersion: WIRE_VERSION, clusterHash: clusterHashOf('demo'), crc32: crc32(body) };
  return wire.Envelope.encode({ ...correct, kind, body, ...changes }).finish();
}

function report(changes: Partial<quotamesh.v1.IReport>): Uint8Array {
  const wireAuthor = { nodeKey: new Uint8Array(6).fill(1), incarnation: 1, nonce: 0, sequence: 1 };
  const body = wire.Report.encode({ author: wireAuthor, groupIds: new Uint8Array(12), ...changes }).finish();
  return envelope(wire.Kind.REPORT, body);
}

function levelLiving(timeToLiveMs: number): TopicRecord {
  const place = { groupId: wideId(1), direction: 0, lateMs: 0, readUntilMs: 0, readUntilOffset: 0 };
  return { kind: 'group-state', author, ceiling: 1, ...place, timeToLiveMs };
}

describe('round trip', () => {
  test.each<TopicRecord>([
    { kind: 'node', author, nodeId: 'a', version: '1.2.3' },
    levelLiving(30 * 86_400_000),
    { kind: 'node', author, nodeId: 'a', version: '', epoch: 1 },
    { kind: 'node', author, nodeId: 'a', version: '', partitions: 16 },
    { kind: 'node', author, nodeId: 'a', version: '1', pool: 9, epoch: 2 ** 32 - 1, partitions: 2 ** 32 - 1 },
    {
      kind: 'node',
      author,
      nodeId: 'a',
      version: '1',
      keys: [keyRow(), keyRow({ direction: 0, messages: 0, bytes: 0 })],
    },
    {
      kind: 'node',
      author,
      nodeId: 'a',
      version: '1',
      keys: Array.from({ length: KEY_ROWS_MAX }, (_, at) => keyRow({ groupId: wideId(at), messages: 0 })),
    },
    {
      kind: 'farewell',
      author: { ...author, nodeKey: nodeKeyOf('demo', 'knoten-äöü-節點') },
      nodeId: 'knoten-äöü-節點',
    },
    { kind: 'report', author, rows: [] },
    { kind: 'report', author, rows: [row()] },
    { kind: 'report', author, rows: [row({ topics: 0, direction: 0 }), row({ groupId: wideId(0) })] },
    {
      kind: 'report',
      author,
      rows: [row({ costs: COSTS }), row({ groupId: wideId(1) }), row({ groupId: wideId(2), costs: COSTS })],
    },
    { kind: 'report', author, rows: [row({ costs: { transactions: 2, backends: [] } })] },
    { kind: 'report', author, rows: [row({ charge: [0.1 + 0.2, -1e-9] }), row({ groupId: wideId(1) })] },
    { kind: 'report', author, rows: [row({ charge: [0, -5], costs: COSTS }), row({ charge: [7, 0] })] },
    { kind: 'report', author, rows: [row({ charge: [2 ** 53 - 1, -(2 ** 53 - 1)] })] },
    { kind: 'backend', author, backend: 'db-1', zone: 'a', health: { kind: 'ratio', ratio: 0 } },
    {
      kind: 'group-state',
      author,
      groupId: wideId(2 ** 48 - 1),
      direction: 1,
      ceiling: 190.5,
      lateMs: 12.5,
      readUntilMs: 1_700_000_000_000,
      readUntilOffset: 2 ** 53 - 2 ** 40,
      timeToLiveMs: 180_000,
    },
    {
      kind: 'backend',
      author,
      backend: 'db-1',
      zone: 'a',
      health: { kind: 'level', level: 7e8, target: 8e8, spring: 2e8 },
    },
    {
      kind: 'report',
      author,
      rows: Array.from({ length: 128 }, (_, at) => row({ groupId: wideId(at), direction: at % 2 })),
    },
  ])('$kind', (record) => {
    expect(codec.decode(codec.encode(record))).toEqual({ record });
  });

  test('the limits of every field', () => {
    const nodeId = 'x'.repeat(1024);
    const extreme = {
      nodeKey: nodeKeyOf('demo', nodeId),
      incarnation: incarnationOf(2 ** 31 - 1, 0xffff),
      sequence: 2 ** 32 - 1,
    };
    const record: TopicRecord = { kind: 'node', author: extreme, nodeId, version: '' };
    expect(codec.decode(codec.encode(record))).toEqual({ record });
    const farthest: TopicRecord = { kind: 'report', author: { ...extreme, nodeKey: 2 ** 48 - 1 }, rows: [] };
    expect(codec.decode(codec.encode(farthest))).toEqual({ record: farthest });
  });

  test('a charge of one dimension alone', () => {
    const onlyBytes = codec.decode(report({ chargeBytes: [-3] }));
    expect(onlyBytes).toMatchObject({ record: { rows: [{ charge: [0, -3] }] } });
  });

  test('a full bundle stays below 5 KiB', () => {
    const rows = Array.from({ length: 128 }, (_, at) =>
      row({ groupId: wideId(1e14 + at), shareMessages: 1.1, shareBytes: 2.2 }),
    );
    expect(codec.encode({ kind: 'report', author, rows }).length).toBeLessThan(5 * 1024);
  });
});

describe('what is not taken, and why', () => {
  const good = codec.encode({ kind: 'node', author, nodeId: 'a', version: '' });
  const body = wire.Envelope.decode(good).body;
  const NODE = wire.Kind.NODE;

  test.each([
    { cause: 'too-large', value: new Uint8Array(MAX_RECORD_BYTES + 1) },
    { cause: 'not-an-envelope', value: Uint8Array.of(0xff, 0xff, 0xff) },
    { cause: 'foreign-magic', value: new Uint8Array(0) },
    { cause: 'not-an-envelope', value: new TextEncoder().encode('{}') },
    { cause: 'foreign-magic', value: envelope(NODE, body, { magic: MAGIC + 1 }) },
    { cause: 'newer-wire-version', value: envelope(NODE, body, { wireVersion: WIRE_VERSION + 1 }) },
    { cause: 'other-cluster', value: new RecordCodec('demo2').encode({ kind: 'farewell', author, nodeId: 'a' }) },
    { cause: 'bad-crc', value: envelope(NODE, body, { crc32: 1 }) },
    { cause: 'unknown-kind', value: envelope(wire.Kind.UNKNOWN, body) },
    { cause: 'unknown-kind', value: envelope(wire.Kind.EXPIRE, body) },
    { cause: 'absurd-content', value: envelope(wire.Kind.GROUP_STATE, body) },
    { cause: 'absurd-content', value: codec.encode(levelLiving(30 * 86_400_000 + 1)) },
    { cause: 'unknown-kind', value: envelope(99, body) },
    { cause: 'malformed-body', value: envelope(NODE, Uint8Array.of(0x0a, 0x7f)) },
    { cause: 'absurd-content', value: envelope(NODE, new Uint8Array(0)) },
    { cause: 'node-differs', value: naming({}) },
    { cause: 'node-differs', value: codec.encode({ kind: 'farewell', author, nodeId: 'b' }) },
    { cause: 'absurd-content', value: naming({ keyGroupIds: new Uint8Array(6) }) },
    {
      cause: 'absurd-content',
      value: naming({
        keyGroupIds: new Uint8Array(12 * (KEY_ROWS_MAX + 1)),
        keyNames: Array.from({ length: KEY_ROWS_MAX + 1 }, () => 'x'),
      }),
    },
    { cause: 'absurd-content', value: naming({ keyGroupIds: new Uint8Array(0), keyDirections: [1] }) },
    { cause: 'absurd-content', value: naming({ pool: NODES_MAX + 1 }) },
    { cause: 'absurd-content', value: naming({ keyDirections: [2] }) },
    { cause: 'absurd-content', value: naming({ keyNames: [] }) },
    { cause: 'absurd-content', value: naming({ keyNames: [''] }) },
    { cause: 'absurd-content', value: naming({ keyNames: ['x', 'y'] }) },
    { cause: 'absurd-content', value: naming({ keyNames: ['x'.repeat(201)] }) },
    { cause: 'absurd-content', value: naming({ keyBytesPerSecond: [-1] }) },
    { cause: 'absurd-content', value: naming({ keyMessagesPerSecond: [Number.NaN] }) },
    { cause: 'absurd-content', value: naming({ keyMessagesPerSecond: [1, 2] }) },
    { cause: 'absurd-content', value: naming({ keyBytesPerSecond: [Infinity] }) },
    { cause: 'absurd-content', value: report({ author: null }) },
    { cause: 'absurd-content', value: report({ groupIds: new Uint8Array(6) }) },
    { cause: 'absurd-content', value: report({ groupIds: new Uint8Array(12 * 129) }) },
    { cause: 'absurd-content', value: report({ directions: [2] }) },
    { cause: 'absurd-content', value: report({ demandMessagesPerSecond: [1, 2] }) },
    { cause: 'absurd-content', value: report({ topics: [1, 2] }) },
    ...[Number.NaN, Infinity, -Infinity, -1, -1e-30, 1e39].map((rate) => {
      return { cause: 'absurd-content', value: report({ usageBytesPerSecond: [rate] }) };
    }),
    ...[Number.NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 53), 1e300].flatMap((charge) => [
      { cause: 'absurd-content', value: report({ chargeMessages: [charge] }) },
      { cause: 'absurd-content', value: report({ chargeBytes: [charge] }) },
    ]),
    { cause: 'absurd-content', value: report({ chargeMessages: [1, 2] }) },
    { cause: 'absurd-content', value: report({ chargeBytes: [1, 2] }) },
  ])('$cause', ({ cause, value }) => {
    expect(codec.decode(value)).toEqual({ cause });
  });

  test.each([
    { says: 'no incarnation', changes: { incarnation: 0 } },
    { says: 'no sequence', changes: { sequence: 0 } },
    { says: 'a short node key', changes: { nodeKey: new Uint8Array(5) } },
    { says: 'a nonce of more than 16 bits', changes: { nonce: 0x10000 } },
  ])('an author with $says is absurd', ({ changes }) => {
    const whole = { nodeKey: new Uint8Array(6), incarnation: 1, nonce: 0, sequence: 1 };
    const value = envelope(NODE, wire.Node.encode({ author: { ...whole, ...changes }, nodeId: 'a' }).finish());
    expect(codec.decode(value)).toEqual({ cause: 'absurd-content' });
  });

  test('the largest rate that float32 carries is a rate', () => {
    const decoded = codec.decode(report({ usageBytesPerSecond: [3.4e38] }));
    expect(decoded).toHaveProperty('record');
  });

  test('fields of a later version are skipped', () => {
    const later = new Uint8Array([...body, 0xf2, 0x3f, 1, 7]);
    expect(codec.decode(envelope(NODE, later))).toHaveProperty('record');
  });
});
