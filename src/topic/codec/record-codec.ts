import { NODES_MAX } from '../../core/base/constants.js';
import { nodeKeyOf } from '../../core/base/ids.js';
import { chargeIn, type ReportRecord, type ReportRow, type TopicRecord } from '../../core/base/protocol/record.js';
import { DIRECTION_COUNT, type GroupId } from '../../core/base/vocabulary.js';
import { decodeBackend, decodeCosts, encodeBackend, encodeCosts, type WithCosts } from './cost-columns.js';
import { attempt, Envelope, type Undecodable } from './envelope.js';
import { quotamesh } from './generated/report.js';
import { decodeGroupState, encodeGroupState } from './group-state-codec.js';
import { decodeKeys, encodeKeys } from './key-columns.js';
import { decodeLevels, encodeLevels, type Stock } from './stock-columns.js';
import {
  ABSURD,
  decodeAuthor,
  decodeIds,
  encodeAuthor,
  encodeIds,
  isCharge,
  isColumn,
  isName,
  isOffset,
  isWireRate,
} from './wire-parts.js';

const wire = quotamesh.v1;

const MAX_ROWS = 64 * DIRECTION_COUNT;

export type Decoded = { readonly record: TopicRecord } | Undecodable;

/** Encodes and decodes a cluster's records (proto/report.proto); never throws on foreign input. */
export class RecordCodec {
  readonly #cluster: string;
  readonly #envelope: Envelope;

  constructor(cluster: string) {
    this.#cluster = cluster;
    this.#envelope = new Envelope(cluster);
  }

  encode(record: TopicRecord): Uint8Array {
    const { kind, body } = encodeBody(record);
    return this.#envelope.seal(kind, body);
  }

  decode(value: Uint8Array): Decoded {
    const opened = this.#envelope.open(value);
    if ('cause' in opened) return opened;
    const decode = DECODERS.get(opened.kind);
    if (decode === undefined) return { cause: 'unknown-kind' };
    const record = attempt(() => decode(opened.body));
    if (record === null) return { cause: 'malformed-body' };
    if (record === ABSURD) return { cause: 'absurd-content' };
    return this.#isOfItsNode(record) ? { record } : { cause: 'node-differs' };
  }

  /** Checks that a name belongs to the key: weights go by the name, all else by the key. */
  #isOfItsNode(record: TopicRecord): boolean {
    if (record.kind !== 'node' && record.kind !== 'farewell') return true;
    return record.author.nodeKey === nodeKeyOf(this.#cluster, record.nodeId);
  }
}

const DECODERS = new Map<number, (body: Uint8Array) => TopicRecord | typeof ABSURD>([
  [wire.Kind.NODE, decodeNode],
  [wire.Kind.FAREWELL, decodeFarewell],
  [wire.Kind.REPORT, decodeReport],
  [wire.Kind.BACKEND, decodeBackend],
  [wire.Kind.GROUP_STATE, decodeGroupState],
]);

function encodeBody(record: TopicRecord): { kind: number; body: Uint8Array } {
  const author = encodeAuthor(record.author);
  switch (record.kind) {
    case 'node': {
      const { nodeId, version, pool = 0, epoch = 0, partitions = 0 } = record;
      const said = { nodeId, version, pool, epoch, partitions, ...encodeKeys(record.keys) };
      return { kind: wire.Kind.NODE, body: wire.Node.encode({ author, ...said }).finish() };
    }
    case 'farewell':
      return { kind: wire.Kind.FAREWELL, body: wire.Farewell.encode({ author, nodeId: record.nodeId }).finish() };
    case 'report':
      return { kind: wire.Kind.REPORT, body: encodeReport(author, record) };
    case 'backend':
      return { kind: wire.Kind.BACKEND, body: encodeBackend(author, record) };
    case 'group-state':
      return { kind: wire.Kind.GROUP_STATE, body: encodeGroupState(author, record) };
  }
}

function encodeReport(author: quotamesh.v1.IAuthor, record: ReportRecord): Uint8Array {
  const { rows, readUntilOffset = 0, fullInMs = 0 } = record;
  const column = (read: (row: ReportRow) => number) => {
    const values = rows.map(read);
    return values.every((value) => value === 0) ? [] : values;
  };
  return wire.Report.encode({
    author,
    groupIds: encodeIds(rows.map(({ groupId }) => groupId)),
    directions: column((row) => row.direction),
    topics: column((row) => row.topics),
    usageMessagesPerSecond: column((row) => row.usageMessages),
    usageBytesPerSecond: column((row) => row.usageBytes),
    demandMessagesPerSecond: column((row) => row.demandMessages),
    demandBytesPerSecond: column((row) => row.demandBytes),
    shareMessagesPerSecond: column((row) => row.shareMessages),
    shareBytesPerSecond: column((row) => row.shareBytes),
    chargeMessages: column((row) => chargeIn(row)[0]),
    chargeBytes: column((row) => chargeIn(row)[1]),
    ...encodeLevels(rows),
    readUntilOffset,
    fullInMs,
    ...encodeCosts(rows),
  }).finish();
}

function decodeNode(body: Uint8Array): TopicRecord | typeof ABSURD {
  const node = wire.Node.decode(body);
  const { nodeId, version, pool, epoch, partitions } = node;
  const author = decodeAuthor(node.author);
  const keys = decodeKeys(node);
  if (author === null || !isName(nodeId) || keys === null || pool > NODES_MAX) return ABSURD;
  const said = {
    ...(pool !== 0 && { pool }),
    ...(epoch !== 0 && { epoch }),
    ...(partitions !== 0 && { partitions }),
    ...(keys.length > 0 && { keys }),
  };
  return { kind: 'node', author, nodeId, version: version.slice(0, 64), ...said };
}

function decodeFarewell(body: Uint8Array): TopicRecord | typeof ABSURD {
  const { author: wireAuthor, nodeId } = wire.Farewell.decode(body);
  const author = decodeAuthor(wireAuthor);
  if (author === null || !isName(nodeId)) return ABSURD;
  return { kind: 'farewell', author, nodeId };
}

function decodeReport(body: Uint8Array): TopicRecord | typeof ABSURD {
  const report = wire.Report.decode(body);
  const author = decodeAuthor(report.author);
  const ids = decodeIds(report.groupIds);
  if (author === null || ids === null || ids.length > MAX_ROWS) return ABSURD;
  const count = ids.length;
  const columns = [
    report.usageMessagesPerSecond,
    report.usageBytesPerSecond,
    report.demandMessagesPerSecond,
    report.demandBytesPerSecond,
    report.shareMessagesPerSecond,
    report.shareBytesPerSecond,
  ];
  if (!columns.every((column) => isColumn(column, count) && column.every(isWireRate))) return ABSURD;
  if (!isColumn(report.directions, count) || report.directions.some((direction) => direction >= DIRECTION_COUNT))
    return ABSURD;
  if (!isColumn(report.topics, count)) return ABSURD;
  const charges = [report.chargeMessages, report.chargeBytes];
  if (!charges.every((column) => isColumn(column, count) && column.every(isCharge))) return ABSURD;
  const costs = decodeCosts(report, count);
  const stocks = decodeLevels(report, count);
  const { readUntilOffset, fullInMs } = report;
  if (costs === null || stocks === null || !isOffset(readUntilOffset) || !isWireRate(fullInMs)) return ABSURD;
  const rows: ReportRow[] = [];
  for (let at = 0; at < count; at++) rows.push(rowAt(ids[at], report, at, costs[at], stocks[at]));
  const said = { ...(readUntilOffset !== 0 && { readUntilOffset }), ...(fullInMs !== 0 && { fullInMs }) };
  return { kind: 'report', author, rows, ...said };
}

/** Makes a row; spreading would make three objects of it, and most rows have no costs. */
function rowAt(
  groupId: GroupId,
  report: quotamesh.v1.Report,
  at: number,
  costed: WithCosts | undefined,
  stock: Stock | undefined,
): ReportRow {
  const row: ReportRow = {
    groupId,
    direction: report.directions[at] ?? 0,
    topics: report.topics[at] ?? 0,
    usageMessages: report.usageMessagesPerSecond[at] ?? 0,
    usageBytes: report.usageBytesPerSecond[at] ?? 0,
    demandMessages: report.demandMessagesPerSecond[at] ?? 0,
    demandBytes: report.demandBytesPerSecond[at] ?? 0,
    shareMessages: report.shareMessagesPerSecond[at] ?? 0,
    shareBytes: report.shareBytesPerSecond[at] ?? 0,
  };
  const messages = report.chargeMessages[at] ?? 0;
  const bytes = report.chargeBytes[at] ?? 0;
  const charged: ReportRow = messages !== 0 || bytes !== 0 ? { charge: [messages, bytes], ...row } : row;
  const known: ReportRow = stock === undefined ? charged : { stock: stock.stock, unread: stock.unread, ...charged };
  return costed?.costs === undefined ? known : { costs: costed.costs, ...known };
}
