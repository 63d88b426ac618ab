import type { ReportRecord, ReportRow } from '../report/record.js';
import { DIRECTION_COUNT, type GroupId, type Incarnation } from '../vocabulary.js';
import { CostRows } from './cost-rows.js';
import type { Member, Membership } from './membership.js';
import { RowStore } from './row-store.js';

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
  readonly #membership: Membership;
  readonly #onLaneChanged: LaneChanged;
  readonly #entries = new Map<string, Entry>();
  readonly #mapLanes = new Map<number, number>();
  #heads = new Int32Array(64).fill(-1);

  constructor(membership: Membership, onLaneChanged: LaneChanged) {
    this.#membership = membership;
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

  /**
   * First row of a lane in order of NodeKey, or −1; follow `rows.nextOf`. Rows of nodes that are not alive are among
   * them.
   */
  firstRow(mapLane: number): number {
    return this.#heads[mapLane] as number;
  }

  nextRow(row: number): number {
    return this.rows.nextOf(row);
  }

  /** Slot of the member that reported a row. */
  memberOf(row: number): number {
    return this.rows.memberOf(row);
  }

  /** Replaces what the key said before. Returns false when the record is not newer than what is known. */
  apply(partition: number, key: string, member: Member, record: ReportRecord, read: ReadTime): boolean {
    const known = this.#entries.get(key);
    if (known !== undefined && known.member === member && !isNewer(record, known)) return false;
    if (known !== undefined) this.#release(known);
    const entry = known ?? { partition, member, incarnation: 0, sequence: 0, first: -1 };
    if (known === undefined) this.#entries.set(key, entry);
    entry.partition = partition;
    entry.member = member;
    entry.incarnation = record.author.incarnation;
    entry.sequence = record.author.sequence;
    entry.first = this.#insertAll(member, record.rows, partition, read);
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

  /** Returns the first row, −1 when there is none. */
  #insertAll(member: Member, reports: readonly ReportRow[], partition: number, read: ReadTime): number {
    let first = -1;
    let last = -1;
    for (const report of reports) {
      const row = this.#insert(member, report, partition, read);
      if (last === -1) first = row;
      else this.rows.chain(last, row);
      last = row;
    }
    return first;
  }

  #insert(member: Member, report: ReportRow, partition: number, { nowMs, logMs }: ReadTime): number {
    const mapLane = this.mapLaneOf(report.groupId, report.direction);
    const row = this.rows.add(member.slot, mapLane, report, { partition, nowMs, logMs });
    this.#link(row, mapLane, member.nodeKey);
    if (report.costs !== undefined) {
      this.costs.set(row, report.groupId * DIRECTION_COUNT + report.direction, mapLane, report.costs);
    }
    this.#onLaneChanged(mapLane);
    return row;
  }

  #link(row: number, mapLane: number, nodeKey: number): void {
    const { rows } = this;
    let previous = -1;
    let at = this.#heads[mapLane] as number;
    while (at !== -1 && this.#membership.inSlot(rows.memberOf(at)).nodeKey < nodeKey) {
      previous = at;
      at = rows.nextOf(at);
    }
    rows.setNext(row, at);
    if (previous === -1) this.#heads[mapLane] = row;
    else rows.setNext(previous, row);
  }

  #release(entry: Entry): void {
    for (let row = entry.first; row !== -1; row = this.rows.nextOfRecord(row)) {
      const mapLane = this.rows.laneOf(row);
      this.#unlink(row, mapLane);
      this.costs.release(row, mapLane);
      this.rows.release(row);
      this.#onLaneChanged(mapLane);
    }
  }

  #unlink(row: number, mapLane: number): void {
    const { rows } = this;
    if (this.#heads[mapLane] === row) {
      this.#heads[mapLane] = rows.nextOf(row);
      return;
    }
    let at = this.#heads[mapLane] as number;
    while (rows.nextOf(at) !== row) at = rows.nextOf(at);
    rows.setNext(at, rows.nextOf(row));
  }
}

function isNewer(record: ReportRecord, known: Entry): boolean {
  if (record.author.incarnation !== known.incarnation) return record.author.incarnation > known.incarnation;
  return record.author.sequence > known.sequence;
}
