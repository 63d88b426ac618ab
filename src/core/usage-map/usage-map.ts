import type { ReportRecord, ReportRow } from '../report/record.js';
import { DIRECTION_COUNT, type GroupId, type Incarnation } from '../vocabulary.js';
import { CostRows } from './cost-rows.js';
import { LaneNumbers } from './lane-numbers.js';
import type { Member } from './membership.js';
import { RowStore } from './row-store.js';

/** Told for every map lane whose rows changed, so that its shares are computed again. */
export type LaneChanged = (mapLane: number) => void;

export interface ReadTime {
  readonly nowMs: number;
  /** Log time of the partition. */
  readonly logMs: number;
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
  /** The newest record of every key of the topic. */
  readonly #entries = new Map<string, number>();
  readonly #mapLanes = new LaneNumbers();
  #heads = new Int32Array(64).fill(-1);

  constructor(onLaneChanged: LaneChanged) {
    this.#onLaneChanged = onLaneChanged;
  }

  get entryCount(): number {
    return this.#entries.size;
  }

  /** The map's own small number of a lane; stable for the life of the map. */
  mapLaneOf(groupId: GroupId, direction: number): number {
    const mapLane = this.#mapLanes.of(groupId * DIRECTION_COUNT + direction);
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
    const { records } = this.rows;
    const known = this.#entries.get(key);
    const isOwn = known !== undefined && records.member[known] === member.slot;
    if (isOwn && !this.#isNewer(record, known)) return false;
    const entry = known ?? records.add();
    if (known === undefined) this.#entries.set(key, entry);
    records.write(entry, record.author, { member: member.slot, partition, nowMs: read.nowMs, logMs: read.logMs });
    if (!isOwn || !this.#overwriteAll(entry, record.rows)) {
      this.#release(entry);
      records.first[entry] = this.#insertAll(entry, record.rows);
    }
    return true;
  }

  /**
   * A tombstone: forgets the key. It changes shares only where the node is still alive, which only a defect can cause.
   */
  remove(key: string): void {
    const known = this.#entries.get(key);
    if (known === undefined) return;
    this.#release(known);
    this.rows.records.release(known);
    this.#entries.delete(key);
  }

  /** Another log begins: nothing was reported in it. */
  forgetAll(): void {
    for (const key of [...this.#entries.keys()]) this.remove(key);
  }

  /** Drops the rows of a member's past incarnations, on one partition or on all. */
  removeBefore(member: Member, incarnation: Incarnation, partition?: number): void {
    const { records } = this.rows;
    for (const [key, entry] of this.#entries) {
      if (records.member[entry] !== member.slot || (records.incarnation[entry] as number) >= incarnation) continue;
      if (partition === undefined || records.partition[entry] === partition) this.remove(key);
    }
  }

  hasRowsOf(member: Member): boolean {
    const { member: writers } = this.rows.records;
    for (const entry of this.#entries.values()) if (writers[entry] === member.slot) return true;
    return false;
  }

  keysOf(member: Member): { partition: number; key: string }[] {
    const { records } = this.rows;
    const keys: { partition: number; key: string }[] = [];
    for (const [key, entry] of this.#entries) {
      if (records.member[entry] === member.slot) keys.push({ partition: records.partition[entry] as number, key });
    }
    return keys;
  }

  /**
   * Mostly a record is about the groups of the one before, in the same order: then its rows stay where they are.
   * Returns whether it was; if not, the rows overwritten so far are released with the others.
   */
  #overwriteAll(entry: number, reports: readonly ReportRow[]): boolean {
    let row = this.rows.records.first[entry] as number;
    for (const report of reports) {
      if (row === -1 || this.rows.laneOf(row) !== this.mapLaneOf(report.groupId, report.direction)) return false;
      const mapLane = this.rows.laneOf(row);
      this.rows.write(row, report);
      this.costs.release(row, mapLane);
      this.#setCosts(row, mapLane, report);
      this.#onLaneChanged(mapLane);
      row = this.rows.nextOfRecord(row);
    }
    return row === -1;
  }

  /** Returns the first row, −1 when there is none. */
  #insertAll(entry: number, reports: readonly ReportRow[]): number {
    let first = -1;
    let last = -1;
    for (const report of reports) {
      const row = this.#insert(entry, report);
      if (last === -1) first = row;
      else this.rows.chain(last, row);
      last = row;
    }
    return first;
  }

  #insert(entry: number, report: ReportRow): number {
    const mapLane = this.mapLaneOf(report.groupId, report.direction);
    const row = this.rows.add(entry, mapLane, report);
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

  #release(entry: number): void {
    for (let row = this.rows.records.first[entry] as number; row !== -1; row = this.rows.nextOfRecord(row)) {
      const mapLane = this.rows.laneOf(row);
      const after = this.rows.unlink(row);
      if (this.#heads[mapLane] === row) this.#heads[mapLane] = after;
      this.costs.release(row, mapLane);
      this.rows.release(row);
      this.#onLaneChanged(mapLane);
    }
  }

  #isNewer({ author }: ReportRecord, known: number): boolean {
    const { records } = this.rows;
    const incarnation = records.incarnation[known] as number;
    if (author.incarnation !== incarnation) return author.incarnation > incarnation;
    return author.sequence > (records.sequence[known] as number);
  }
}
