import { DIMENSION_COUNT } from '../../base/vocabulary.js';
import type { LogTime } from '../../log/log-time.js';
import type { Membership } from '../../usage-map/membership.js';
import type { RowStore } from '../../usage-map/row-store.js';
import type { UsageMap } from '../../usage-map/usage-map.js';
import { type Checkpoint, isFurther, type ReadExtent } from '../checkpoint.js';

/** What all rows of a lane say of a bucket, those of past lives and of nodes that are gone among them. */
export function checkpointsOf(
  { usageMap, membership }: Told,
  mapLane: number,
  dimension: number,
  time: Pick<LogTime, 'spanMs' | 'pauseMs'>,
): Checkpoint[] {
  const { rows } = usageMap;
  const checkpoints: Checkpoint[] = [];
  for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
    const record = rows.recordOf(row);
    const member = membership.inSlot(rows.memberOf(row));
    checkpoints.push({
      author: membership.on(rows.partitionOf(row)).has(member) ? member.nodeKey : null,
      charge: rows.chargeOf(row, dimension),
      stock: rows.stockOf(row, dimension),
      unread: rows.unreadOf(row, dimension),
      ...extentOf(rows, record),
      spanMs: since(rows.records.spanMs[record], time.spanMs),
      pauseMs: since(rows.records.pauseMs[record], time.pauseMs),
    });
  }
  return checkpoints;
}

/**
 * Whether a node that is alive tells a lane's buckets and had read further than the author of a record.
 *
 * @param record −1 = whoever tells them has
 * @param except the slot of a member that does not count
 */
export function isToldFurther(
  { usageMap, membership }: Told,
  mapLane: number,
  record: number,
  except: number,
): boolean {
  const { rows } = usageMap;
  const extent = record === -1 ? NOWHERE : extentOf(rows, record);
  for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
    const slot = rows.memberOf(row);
    if (slot === except || !tellsStock(rows, row)) continue;
    if (!membership.on(rows.partitionOf(row)).has(membership.inSlot(slot))) continue;
    if (isFurther(extentOf(rows, rows.recordOf(row)), extent)) return true;
  }
  return false;
}

/**
 * Whether nobody has to find a record in the log any more: all its buckets have been full since, or nodes that are
 * alive tell of them and had read further.
 */
export function isOutdated(
  { usageMap, membership }: Told,
  record: number,
  { spanMs }: Pick<LogTime, 'spanMs'>,
): boolean {
  const { rows } = usageMap;
  const { records } = rows;
  if (since(records.spanMs[record], spanMs) >= records.fullInMs[record]) return true;
  for (let row = records.first[record]; row !== -1; row = rows.nextOfRecord(row)) {
    if (tellsStock(rows, row) && !isToldFurther({ usageMap, membership }, rows.laneOf(row), record, -1)) return false;
  }
  return true;
}

interface Told {
  readonly usageMap: UsageMap;
  readonly membership: Membership;
}

function extentOf({ records }: RowStore, record: number): ReadExtent {
  return { offset: records.offset[record], readUntil: records.readUntil[record] };
}

const NOWHERE: ReadExtent = { offset: -1, readUntil: -1 };

function tellsStock(rows: RowStore, row: number): boolean {
  for (let dimension = 0; dimension < DIMENSION_COUNT; dimension++) {
    if (!Number.isNaN(rows.stockOf(row, dimension))) return true;
  }
  return false;
}

/** Subtracts times that a record keeps modulo 2³². */
function since(keptMs: number, nowMs: number): number {
  return (Math.floor(nowMs) - keptMs) >>> 0;
}
