import { KEY_NAME_MAX, KEY_ROWS_MAX } from '../../core/base/constants.js';
import type { KeyRow } from '../../core/base/protocol/record.js';
import { DIRECTION_COUNT } from '../../core/base/vocabulary.js';
import type { quotamesh } from './generated/report.js';
import { decodeIds, encodeIds, isColumn, isWireRate } from './wire-parts.js';

export function encodeKeys(rows: readonly KeyRow[] = []): quotamesh.v1.INode {
  if (rows.length === 0) return {};
  return {
    keyGroupIds: encodeIds(rows.map(({ groupId }) => groupId)),
    keyDirections: rows.map(({ direction }) => direction),
    keyMessagesPerSecond: rows.map(({ messages }) => messages),
    keyBytesPerSecond: rows.map(({ bytes }) => bytes),
    keyNames: rows.map(({ name }) => name),
  };
}

/** Decodes keys; null = columns that do not fit, or that no node writes. */
export function decodeKeys(node: quotamesh.v1.Node): readonly KeyRow[] | null {
  const ids = decodeIds(node.keyGroupIds);
  if (ids === null || ids.length > KEY_ROWS_MAX) return null;
  const count = ids.length;
  const { keyDirections: directions, keyNames: names, keyMessagesPerSecond: messages, keyBytesPerSecond: bytes } = node;
  if (!isColumn(directions, count) || directions.some((direction) => direction >= DIRECTION_COUNT)) return null;
  if (![messages, bytes].every((column) => isColumn(column, count) && column.every(isWireRate))) return null;
  if (names.length !== count || names.some(({ length }) => length === 0 || length > KEY_NAME_MAX)) return null;
  return Array.from({ length: count }, (_, at) => ({
    groupId: ids[at],
    direction: directions[at] ?? 0,
    name: names[at],
    messages: messages[at] ?? 0,
    bytes: bytes[at] ?? 0,
  }));
}
