import { DIRECTION_COUNT, KEY_NAME_MAX } from '../core/base/vocabulary.js';
import { OBSERVED_ROWS_MAX, type ObservedRow } from '../core/protocol/record.js';
import type { quotamesh } from './generated/report.js';
import { decodeIds, encodeIds, isColumn, isRate } from './wire-parts.js';

/** The columns of what a node has observed; none without rows. */
export function encodeObserved(rows: readonly ObservedRow[] = []): quotamesh.v1.INode {
  if (rows.length === 0) return {};
  return {
    observedGroupIds: encodeIds(rows.map(({ groupId }) => groupId)),
    observedDirections: rows.map(({ direction }) => direction),
    observedTopics: rows.some(({ topics }) => topics !== 0) ? rows.map(({ topics }) => topics) : [],
    observedUsageMessagesPerSecond: rows.map(({ usageMessages }) => usageMessages),
    observedUsageBytesPerSecond: rows.map(({ usageBytes }) => usageBytes),
    observedDemandMessagesPerSecond: rows.map(({ demandMessages }) => demandMessages),
    observedDemandBytesPerSecond: rows.map(({ demandBytes }) => demandBytes),
    observedNames: rows.some(({ name }) => name !== '') ? rows.map(({ name }) => name) : [],
  };
}

/** Null where the columns do not fit together, or hold what no node of ours writes. */
export function decodeObserved(node: quotamesh.v1.Node): readonly ObservedRow[] | null {
  const ids = decodeIds(node.observedGroupIds);
  if (ids === null || ids.length > OBSERVED_ROWS_MAX) return null;
  const count = ids.length;
  const directions = node.observedDirections;
  if (!isColumn(directions, count) || directions.some((direction) => direction >= DIRECTION_COUNT)) return null;
  if (!isColumn(node.observedTopics, count)) return null;
  const rates = [
    node.observedUsageMessagesPerSecond,
    node.observedUsageBytesPerSecond,
    node.observedDemandMessagesPerSecond,
    node.observedDemandBytesPerSecond,
  ];
  if (!rates.every((column) => isColumn(column, count) && column.every(isRate))) return null;
  const names = node.observedNames;
  if (names.length !== 0 && names.length !== count) return null;
  if (names.some(({ length }) => length > KEY_NAME_MAX)) return null;
  return Array.from({ length: count }, (_, at) => ({
    groupId: ids[at],
    direction: directions[at] ?? 0,
    topics: node.observedTopics[at] ?? 0,
    usageMessages: node.observedUsageMessagesPerSecond[at] ?? 0,
    usageBytes: node.observedUsageBytesPerSecond[at] ?? 0,
    demandMessages: node.observedDemandMessagesPerSecond[at] ?? 0,
    demandBytes: node.observedDemandBytesPerSecond[at] ?? 0,
    name: names[at] ?? '',
  }));
}
