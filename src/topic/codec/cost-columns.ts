import type {
  BackendHealth,
  BackendRecord,
  LaneCosts,
  ReportRow,
  TopicRecord,
} from '../../core/base/protocol/record.js';
import { BACKENDS_PER_LANE } from '../../core/target/constants/constants.js';
import { isSaneHealth } from '../../core/target/throttling-ratio.js';
import { quotamesh } from './generated/report.js';
import { ABSURD, decodeAuthor, decodeIds, encodeIds, isColumn, isName, isWireRate } from './wire-parts.js';

/** Encodes the columns of costs; none where no row has any. */
export function encodeCosts(rows: readonly ReportRow[]): quotamesh.v1.IReport {
  if (rows.every(({ costs }) => costs === undefined)) return {};
  const entries = rows.flatMap(({ costs }) => costs?.backends ?? []);
  return {
    costedMessagesPerSecond: rows.map(({ costs }) => costs?.transactions ?? 0),
    costBackendCounts: rows.map(({ costs }) => costs?.backends.length ?? 0),
    costBackendIds: encodeIds(entries.map(({ backend }) => backend)),
    costUnitsPerSecond: entries.map(({ cost }) => cost),
  };
}

export type WithCosts = { readonly costs?: LaneCosts };

/** Decodes an element per row, none without costs; null = the columns do not fit together. */
export function decodeCosts(report: quotamesh.v1.Report, count: number): readonly WithCosts[] | null {
  const { costedMessagesPerSecond, costBackendCounts, costBackendIds, costUnitsPerSecond } = report;
  const isWithout = costedMessagesPerSecond.length === 0 && costBackendCounts.length === 0;
  if (isWithout && costBackendIds.length === 0 && costUnitsPerSecond.length === 0) return WITHOUT_COSTS;
  if (!isColumn(costedMessagesPerSecond, count) || !isColumn(costBackendCounts, count)) return null;
  // One more than the named backends: the entry for costs of no backend.
  if (costBackendCounts.some((backends) => backends > BACKENDS_PER_LANE + 1)) return null;
  const entries = costBackendCounts.reduce((sum, backends) => sum + backends, 0);
  const ids = decodeIds(costBackendIds);
  if (ids?.length !== entries || costUnitsPerSecond.length !== entries) return null;
  if (![...costedMessagesPerSecond, ...costUnitsPerSecond].every(isWireRate)) return null;
  let next = 0;
  return Array.from({ length: count }, (_, row): WithCosts => {
    const transactions = costedMessagesPerSecond[row] ?? 0;
    const backends = Array.from({ length: costBackendCounts[row] ?? 0 }, () => {
      const at = next++;
      return { backend: ids[at], cost: costUnitsPerSecond[at] };
    });
    return transactions === 0 && backends.length === 0 ? {} : { costs: { transactions, backends } };
  });
}

const WITHOUT_COSTS: readonly WithCosts[] = [];

const { Backend } = quotamesh.v1;

export function encodeBackend(author: quotamesh.v1.IAuthor, { backend, zone, health }: BackendRecord): Uint8Array {
  const { kind, ...figures } = health;
  const told = kind === 'ratio' ? { throttlingRatio: health.ratio } : figures;
  return Backend.encode({ author, backendId: backend, zone, ...told }).finish();
}

export function decodeBackend(body: Uint8Array): TopicRecord | typeof ABSURD {
  const { author: wireAuthor, backendId, zone, level, target, spring, throttlingRatio } = Backend.decode(body);
  const author = decodeAuthor(wireAuthor);
  const ratio = throttlingRatio ?? null;
  const health: BackendHealth =
    ratio === null ? { kind: 'level', level, target, spring } : { kind: 'ratio', ratio: Number(ratio) };
  if (author === null || !isName(backendId) || !isName(zone) || !isSaneHealth(health)) return ABSURD;
  return { kind: 'backend', author, backend: backendId, zone, health };
}
