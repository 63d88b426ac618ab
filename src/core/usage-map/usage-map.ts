import type { ReportRecord, ReportRow } from '../report/record.js';
import { DIRECTION_COUNT, type GroupId, type Incarnation } from '../vocabulary.js';
import { CostRows } from './cost-rows.js';
import type { Member } from './membership.js';
import { type RowOrigin, RowStore } from './row-store.js';

/** Told for every map lane whose rows changed, so that its shares are computed again. */
export type LaneChanged = (mapLane: number) => void;

export interface ReadTime {
  readonly nowMs: number;
  /** Log time of the partition. */
  readonly logMs: number;
}

/** The newest record of one key of the topic. */
interface Entry {
  partition: number;
  member: Member;
  incarnation: Incarnation;
  sequence: number;
  /** Its first row, or −1; follow `rows.nextOfRecord`. */
  first: number;
}

/**
 * group → node → usage (PIP-82, "Communications between brokers"), filled from the newest record per key.
 * Rows of every reported group are kept decoded, also of groups that are not configured here (yet): in columns that is
 * cheaper than keeping raw records and an index of them (docs/decisions/0003).
 */
export class UsageMap {
  readonly rows = new RowStore();
  readonly costs = new CostRows();
  readonly #onLaneChanged: LaneChanged;
  readonly #entries = new Map<string, Entry>();
  readonly #mapLanes = new Map<number, number>();
  #heads = new Int32Array(64).fill(-1);

  constructor(onLaneChanged: LaneChanged) {
    this.#onLaneChanged = onLaneChanged;
  }

  get entryCount(): number {
    return this.#entries.size;
  }

  /** The map's own small number of a lane; stable for the life of the map. */
  mapLaneOf(groupId: GroupId, direction: number): number {
    const key = groupId * DIRECTION_COUNT + direction;
    const known = this.#mapLanes.get(key);
    if (known !== undefined) return known;
    const mapLane = this.#mapLanes.size;
    this.#mapLanes.set(key, mapLane);
    if (mapLane === this.#heads.length) {
      const larger = new Int32Array(mapLane * 2).fill(-1);
      larger.set(this.#heads);
      this.#heads = larger;
    }
    return mapLane;
  }

  /** First row of a lane, or −1; follow `rows.nextOf`. In no order, and with rows of nodes that are not alive. */
  firstRow(mapLane: number): number {
    return this.#heads[mapLane] as number;
  }

  /** Replaces what the key said before. Returns false when the record is not newer than what is known. */
  apply(partition: number, key: string, member: Member, record: ReportRecord, read: ReadTime): boolean {
    const known = this.#entries.get(key);
    if (known !== undefined && known.member === member && !isNewer(record, known)) return false;
    const origin = { partition, nowMs: read.nowMs, logMs: read.logMs };
    const entry = known ?? { partition, member, incarnation: 0, sequence: 0, first: -1 };
    if (known === undefined) this.#entries.set(key, entry);
    if (entry.member !== member || !this.#overwriteAll(entry, record.rows, origin)) {
      this.#release(entry);
      entry.first = this.#insertAll(member, record.rows, origin);
    }
    entry.partition = partition;
    entry.member = member;
    entry.incarnation = record.author.incarnation;
    entry.sequence = record.author.sequence;
    return true;
  }

  /**
   * A tombstone: forgets the key. It changes shares only where the node is still alive, which only a defect can cause.
   */
  remove(key: string): void {
    const known = this.#entries.get(key);
    if (known === undefined) return;
    this.#release(known);
    this.#entries.delete(key);
  }

  /** Drops the rows of a member's past incarnations, on one partition or on all. */
  removeBefore(member: Member, incarnation: Incarnation, partition?: number): void {
    for (const [key, entry] of this.#entries) {
      if (entry.member !== member || entry.incarnation >= incarnation) continue;
      if (partition === undefined || entry.partition === partition) this.remove(key);
    }
  }

  hasRowsOf(member: Member): boolean {
    for (const entry of this.#entries.values()) if (entry.member === member) return true;
    return false;
  }

  keysOf(member: Member): { partition: number; key: string }[] {
    const keys: { partition: number; key: string }[] = [];
    for (const [key, { member: owner, partition }] of this.#entries)
      if (owner === member) keys.push({ partition, key });
    return keys;
  }

  /**
   * Mostly a record is about the groups of the one before, in the same order: then its rows stay where they are.
   * Returns whether it was; if not, the rows overwritten so far are released with the others.
   */
  #overwriteAll(entry: Entry, reports: readonly ReportRow[], origin: RowOrigin): boolean {
    let row = entry.first;
    for (const report of reports) {
      if (row === -1 || this.rows.laneOf(row) !== this.mapLaneOf(report.groupId, report.direction)) return false;
      const mapLane = this.rows.laneOf(row);
      this.rows.write(row, report, origin);
      this.costs.release(row, mapLane);
      this.#setCosts(row, mapLane, report);
      this.#onLaneChanged(mapLane);
      row = this.rows.nextOfRecord(row);
    }
    return row === -1;
  }

  /** Returns the first row, −1 when there is none. */
  #insertAll(member: Member, reports: readonly ReportRow[], origin: RowOrigin): number {
    let first = -1;
    let last = -1;
    for (const report of reports) {
      const row = this.#insert(member, report, origin);
      if (last === -1) first = row;
      else this.rows.chain(last, row);
      last = row;
    }
    return first;
  }

  #insert(member: Member, report: ReportRow, origin: RowOrigin): number {
    const mapLane = this.mapLaneOf(report.groupId, report.direction);
    const row = this.rows.add(member.slot, mapLane, report, origin);
    this.rows.link(row, this.#heads[mapLane] as number);
    this.#heads[mapLane] = row;
    this.#setCosts(row, mapLane, report);
    this.#onLaneChanged(mapLane);
    return row;
  }

  #setCosts(row: number, mapLane: number, report: ReportRow): void {
    if (report.costs === undefined) return;
    this.costs.set(row, report.groupId * DIRECTION_COUNT + report.direction, mapLane, report.costs);
  }

  #release(entry: Entry): void {
    for (let row = entry.first; row !== -1; row = this.rows.nextOfRecord(row)) {
      const mapLane = this.rows.laneOf(row);
      const after = this.rows.unlink(row);
      if (this.#heads[mapLane] === row) this.#heads[mapLane] = after;
      this.costs.release(row, mapLane);
      this.rows.release(row);
      this.#onLaneChanged(mapLane);
    }
  }
}

function isNewer(record: ReportRecord, known: Entry): boolean {
  if (record.author.incarnation !== known.incarnation) return record.author.incarnation > known.incarnation;
  return record.author.sequence > known.sequence;
}
