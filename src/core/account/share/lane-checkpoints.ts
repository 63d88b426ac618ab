import { BYTES, MESSAGES } from '../../base/vocabulary.js';
import type { LogTime } from '../../log/log-time.js';
import type { Membership } from '../../usage-map/membership.js';
import type { RowStore } from '../../usage-map/row-store.js';
import type { UsageMap } from '../../usage-map/usage-map.js';
import { type Checkpoint, isFurther, type ReadExtent } from '../checkpoint.js';

/** Reads all rows of a lane about a bucket, dead nodes' included. */
export function checkpointsOf(
  { usageMap, membership }: Published,
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
      spanMs: Math.floor(time.spanMs) - rows.records.spanMs[record],
      pauseMs: (Math.floor(time.pauseMs) - rows.records.pauseMs[record]) >>> 0,
    });
  }
  return checkpoints;
}

/**
 * Tests if an alive node's row replaces another row's stocks. Its author had read that row, or further than that row's
 * author, who had nothing unread.
 *
 * @param published the other row; −1 = there is none, any alive author will do
 * @param except the slot of a member that does not count
 */
export function isPublishedFurther(
  { usageMap, membership }: Published,
  mapLane: number,
  published: number,
  except: number,
): boolean {
  const { rows } = usageMap;
  const extent = published === -1 ? NOWHERE : extentOf(rows, rows.recordOf(published));
  const isAllRead = published !== -1 && DIMENSIONS.every((dimension) => !(rows.unreadOf(published, dimension) > 0));
  for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
    const slot = rows.memberOf(row);
    if (slot === except || !tellsStock(rows, row)) continue;
    if (!membership.on(rows.partitionOf(row)).has(membership.inSlot(slot))) continue;
    const other = extentOf(rows, rows.recordOf(row));
    if (other.readUntil > extent.offset || (isAllRead && isFurther(other, extent))) return true;
  }
  return false;
}

/** Tests if a record is of no more use: its buckets were full since, or readers have published newer stocks. */
export function isOutdated(
  { usageMap, membership }: Published,
  record: number,
  time: Pick<LogTime, 'spanMs'>,
): boolean {
  const { rows } = usageMap;
  for (let row = rows.records.first[record]; row !== -1; row = rows.nextOfRecord(row)) {
    if (!tellsStock(rows, row) || isFull(usageMap, rows.laneOf(row), time)) continue;
    if (!isPublishedFurther({ usageMap, membership }, rows.laneOf(row), row, -1)) return false;
  }
  return true;
}

/**
 * Tests if a lane's buckets have been full since: after the time in the furthest row and in each row that its author
 * had not read.
 *
 * *Worked:* three nodes take 600 of 600 per hour at once and are killed. Each row has an hour; together they have
 * three.
 */
function isFull(usageMap: UsageMap, mapLane: number, { spanMs }: Pick<LogTime, 'spanMs'>): boolean {
  const { rows } = usageMap;
  const { records } = rows;
  let furthest = -1;
  for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
    if (!tellsStock(rows, row)) continue;
    const record = rows.recordOf(row);
    if (furthest === -1 || isFurther(extentOf(rows, record), extentOf(rows, furthest))) furthest = record;
  }
  let fullInMs = 0;
  for (let row = usageMap.firstRow(mapLane); row !== -1; row = rows.nextOf(row)) {
    const record = rows.recordOf(row);
    if (records.offset[record] >= records.readUntil[furthest]) fullInMs += records.fullInMs[record];
  }
  return Math.floor(spanMs) - records.spanMs[furthest] >= fullInMs;
}

const DIMENSIONS = [MESSAGES, BYTES];

interface Published {
  readonly usageMap: UsageMap;
  readonly membership: Membership;
}

function extentOf({ records }: RowStore, record: number): ReadExtent {
  return { offset: records.offset[record], readUntil: records.readUntil[record] };
}

const NOWHERE: ReadExtent = { offset: -1, readUntil: -1 };

function tellsStock(rows: RowStore, row: number): boolean {
  return DIMENSIONS.some((dimension) => !Number.isNaN(rows.stockOf(row, dimension)));
}
