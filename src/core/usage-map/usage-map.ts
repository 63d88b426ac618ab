import { grown } from '../base/grown.js';
import { chargeIn, type ReportRecord, type ReportRow } from '../base/protocol/record.js';
import type { CoordinatorSettings } from '../base/settings.js';
import { BYTES, type GroupId, type Incarnation, MESSAGES, type NodeKey } from '../base/vocabulary.js';
import { BundleKeys } from './bundle-keys.js';
import { LANES_UNTIL_FREED } from './constants.js';
import { CostRows } from './cost-rows.js';
import { type LaneIdentity, LaneNumbers } from './lane-numbers.js';
import type { Member } from './membership.js';
import { NOBODYS_SLOT, type ReadTime } from './record-store.js';
import { RowBounds, type RowBoundsSettings, type RowVerdict, weightOf } from './row-bounds.js';
import { RowStore } from './row-store.js';

export type UsageMapSettings = RowBoundsSettings & Pick<CoordinatorSettings, 'hashSeed'>;

/** Called for every map lane whose rows changed: its shares are computed again. */
export type LaneChanged = (mapLane: number) => void;

/** Author and time of a record. The slot is this reader's number of the author. */
export interface ChargeSource {
  readonly nodeKey: NodeKey;
  readonly slot: number;
  /** Span time of the partition, and its part in pauses (log-time.ts). */
  readonly spanMs: number;
  readonly pauseMs: number;
  /**
   * True = the author wrote the record for another log. It had read more of that log than this one holds. Its charges
   * go on from those there, so they show nothing of the use since this log began.
   */
  readonly isElsewhere: boolean;
}

/** Follows the charges of a lane's rows to the cluster's bucket (core/account). */
export interface ChargeReader {
  /**
   * Settles a lane before its rows change: they held until the record's log time. Returns true if the record's charge
   * to the lane is followed.
   */
  settle(mapLane: number, source: ChargeSource): boolean;
  /**
   * Begins an author's row of a lane: its charge counts from 0. A charge below 0 was given back before the log forgot
   * the row, and is not given back again.
   */
  beginEntry(mapLane: number, source: ChargeSource, messages: number, bytes: number, wants: boolean): void;
  /**
   * Adds the charge since the node's last row, and notes its demand. Returns the excess of tokens given back, in depths
   * of the bucket.
   */
  charge(mapLane: number, source: ChargeSource, messages: number, bytes: number, wants: boolean): number;
}

/** Key of a record, and a mark of past lives. */
export interface RecordKey {
  readonly partition: number;
  readonly bundle: number;
  /** True = the record is of a past life of its node. */
  readonly isPast: boolean;
}

/**
 * Fate of a record. 'older' = it stands in the log after a newer one of its key. 'charge-too-low' and 'charge-in-doubt'
 * = it is applied, except for the excess of tokens that it gives back: more than a depth of some bucket, or less. Nodes
 * that disagree for a while about the log or its members may doubt an honest one.
 */
export type Verdict = RowVerdict | 'repeated' | 'older' | ChargeVerdict;
export type ChargeVerdict = 'charge-too-low' | 'charge-in-doubt';

/** Key of a node under which the log holds a record. */
export interface KnownKey {
  readonly partition: number;
  readonly bundle: number;
  readonly incarnation: Incarnation;
  /** Number of the record in the store. */
  readonly record: number;
}

/**
 * Maps group → node → usage (PIP-82, "Communications between brokers"): the newest record of every key in the log.
 * Records of past lives are kept, too. Their rows count for nobody, but newcomers read them from the log, so the node
 * that buries their writer needs their keys (docs/decisions/0046).
 *
 * Rows of every reported group are kept decoded, also of groups that are not configured here: columns are cheaper than
 * raw records and an index of them (docs/decisions/0001).
 */
export class UsageMap {
  readonly rows = new RowStore();
  readonly costs = new CostRows();
  readonly bounds: RowBounds;
  readonly #onLaneChanged: LaneChanged;
  readonly #keys: BundleKeys;
  readonly #mapLanes: LaneNumbers;
  readonly #isLaneHeld: (mapLane: number) => boolean;
  /** Null = nobody follows charges. */
  charges: ChargeReader | null = null;
  /**
   * Numbered lanes at which the numbers of lanes without rows are freed: groups come and go, and records may name any.
   */
  #lanesUntilFreed = LANES_UNTIL_FREED;
  #rowSteps = 0;
  #heads = new Int32Array(64).fill(-1);

  /** @param isLaneHeld true for a lane that is in use without rows */
  constructor(
    onLaneChanged: LaneChanged,
    settings: UsageMapSettings,
    isLaneHeld: (mapLane: number) => boolean = () => false,
  ) {
    this.#keys = new BundleKeys(this.rows.records, settings.hashSeed);
    this.#mapLanes = new LaneNumbers(settings.hashSeed);
    this.#isLaneHeld = isLaneHeld;
    this.bounds = new RowBounds(settings);
    this.#onLaneChanged = onLaneChanged;
  }

  /** Number of lanes that have a number. */
  get laneCount(): number {
    return this.#mapLanes.count;
  }

  get entryCount(): number {
    return this.#keys.count;
  }

  /** Records and rows looked at so far: the cost of catching up, as a count. */
  get steps(): number {
    return this.#keys.steps + this.#rowSteps;
  }

  /** Finds or gives a lane's number. It is stable while the lane has rows or is held, else until the next record. */
  mapLaneOf(groupId: GroupId, direction: number): number {
    const mapLane = this.#mapLanes.of(groupId, direction);
    if (mapLane === this.#heads.length) this.#heads = grown(this.#heads, 2 * mapLane, -1);
    return mapLane;
  }

  /** Finds the map's number of a lane; −1 = none. */
  findMapLane(groupId: GroupId, direction: number): number {
    return this.#mapLanes.find(groupId, direction);
  }

  groupOf(mapLane: number): LaneIdentity {
    return this.#mapLanes.laneOf(mapLane);
  }

  /**
   * Finds the first row of a lane, or −1; follow `rows.nextOf`. The lane −1 has none. The rows have no order; nodes
   * that are not alive are among them.
   */
  firstRow(mapLane: number): number {
    return mapLane === -1 ? -1 : this.#heads[mapLane];
  }

  /** Tests if a lane has rows, or is held. */
  isInUse(mapLane: number): boolean {
    return this.#heads[mapLane] !== -1 || this.#isLaneHeld(mapLane);
  }

  /** Visits every lane that has rows, by number. */
  forEachLane(visit: (mapLane: number) => void): void {
    for (let mapLane = 0; mapLane < this.#heads.length; mapLane++) if (this.#heads[mapLane] !== -1) visit(mapLane);
  }

  /** Visits the lanes of which a member has rows that count. */
  forEachLaneOf(member: Member, partition: number, visit: (mapLane: number) => void): void {
    const { records } = this.rows;
    for (let entry = this.#keys.first(member.slot, partition); entry !== -1; entry = this.#keys.next(entry)) {
      if (records.member[entry] === NOBODYS_SLOT) continue;
      for (let row = records.first[entry]; row !== -1; row = this.rows.nextOfRecord(row)) visit(this.rows.laneOf(row));
    }
  }

  /** Finds the row of a member for a lane, or −1. */
  rowOf(mapLane: number, slot: number): number {
    let row = this.firstRow(mapLane);
    while (row !== -1 && this.rows.memberOf(row) !== slot) {
      this.#rowSteps++;
      row = this.rows.nextOf(row);
    }
    return row;
  }

  /** Replaces the content of a key if the record is newer. A refused record leaves its key without rows. */
  apply(key: RecordKey, member: Member, record: ReportRecord, read: ReadTime): Verdict {
    const { partition, bundle, isPast } = key;
    const { records } = this.rows;
    if (this.#mapLanes.count >= this.#lanesUntilFreed) this.#freeLanes();
    const known = this.#keys.find(member.slot, partition, bundle);
    const order = known === -1 ? 1 : this.#compare(record, known);
    if (order <= 0) return order < 0 ? 'older' : 'repeated';
    const weightBefore = known === -1 ? 0 : records.weight[known];
    const verdict = this.bounds.judge(partition, bundle, record.rows, weightBefore);
    const { readUntilOffset: readUntil = 0, fullInMs = 0 } = record;
    const isElsewhere = readUntil > read.offset;
    const told = isElsewhere ? record.rows.map(withNothingCharged) : record.rows;
    const rows = verdict === 'applied' ? told : NOTHING;
    if (known === -1 && this.bounds.judge(partition, bundle, rows, 0) !== 'applied') return verdict;
    const entry = known === -1 ? records.add() : known;
    const countedSlot = isPast ? NOBODYS_SLOT : member.slot;
    const { spanMs, pauseMs } = read;
    const { nodeKey } = record.author;
    const source = { nodeKey, slot: member.slot, spanMs, pauseMs, isElsewhere };
    const refused = isPast ? 0 : this.#readCharges(known, record, rows, source);
    records.write(entry, record.author, { member: countedSlot, ...read, partition, bundle, readUntil, fullInMs });
    if (known === -1) this.#keys.add(member.slot, entry);
    if (known === -1 || !this.#overwriteAll(entry, rows)) {
      this.#release(entry);
      records.first[entry] = this.#insertAll(entry, rows);
    }
    records.weight[entry] = weightOf(rows);
    this.bounds.add(partition, records.weight[entry] - weightBefore);
    if (refused > 0) return refused > 1 ? 'charge-too-low' : 'charge-in-doubt';
    return verdict;
  }

  /**
   * Forgets a key after its tombstone. That changes shares only if the node is alive, which only a defect can cause.
   */
  remove(member: Member, partition: number, bundle: number): void {
    const known = this.#keys.find(member.slot, partition, bundle);
    if (known === -1) return;
    this.#keys.remove(member.slot, known);
    this.bounds.add(partition, -this.rows.records.weight[known]);
    this.#release(known);
    this.rows.records.release(known);
  }

  forgetAll(members: Iterable<Member>): void {
    for (const member of members) {
      for (const { partition, bundle } of this.keysOf(member)) this.remove(member, partition, bundle);
    }
  }

  /** Counts a member's records by its newest life on a partition. Records of older lives count for nobody. */
  countLives(member: Member, partition: number): void {
    const { records } = this.rows;
    for (let entry = this.#keys.first(member.slot, partition); entry !== -1; entry = this.#keys.next(entry)) {
      const countedSlot = records.incarnation[entry] < member.lives[partition] ? NOBODYS_SLOT : member.slot;
      if (records.member[entry] === countedSlot) continue;
      records.member[entry] = countedSlot;
      for (let row = records.first[entry]; row !== -1; row = this.rows.nextOfRecord(row)) {
        this.costs.recounted(row);
        this.#onLaneChanged(this.rows.laneOf(row));
      }
    }
  }

  /** Finds a member's newest life on a partition, and its highest sequence; 0 = none. */
  newestOn(member: Member, partition: number): { readonly incarnation: Incarnation; readonly sequence: number } {
    const { records } = this.rows;
    const newest = { incarnation: 0, sequence: 0 };
    for (let entry = this.#keys.first(member.slot, partition); entry !== -1; entry = this.#keys.next(entry)) {
      const incarnation = records.incarnation[entry];
      const sequence = records.sequence[entry];
      if (incarnation < newest.incarnation) continue;
      newest.sequence = incarnation > newest.incarnation ? sequence : Math.max(sequence, newest.sequence);
      newest.incarnation = incarnation;
    }
    return newest;
  }

  /** Finds the record of a key, or −1. */
  recordOf(member: Member, partition: number, bundle: number): number {
    return this.#keys.find(member.slot, partition, bundle);
  }

  hasKeysOf(member: Member): boolean {
    return this.#keys.countOf(member.slot) > 0;
  }

  /** Lists the keys under which the log holds a member's records. */
  keysOf(member: Member): KnownKey[] {
    const { incarnation, bundle } = this.rows.records;
    const keys: KnownKey[] = [];
    for (let partition = 0; partition < member.lives.length; partition++) {
      for (let entry = this.#keys.first(member.slot, partition); entry !== -1; entry = this.#keys.next(entry)) {
        const key = { partition, bundle: bundle[entry], incarnation: incarnation[entry] };
        keys.push({ ...key, record: entry });
      }
    }
    return keys;
  }

  /**
   * Overwrites the rows of a record in place. That works if the new record has the same groups in the same order, as
   * most have. Returns true if it worked; else the caller releases all rows, those overwritten so far among them.
   */
  #overwriteAll(entry: number, reports: readonly ReportRow[]): boolean {
    let row = this.rows.records.first[entry];
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

  /**
   * Reads the charges of a record's rows. A lane that the record no longer names has charged nothing since its last
   * row. Returns the largest excess of tokens given back, in depths of a bucket.
   */
  #readCharges(known: number, { author }: ReportRecord, rows: readonly ReportRow[], source: ChargeSource): number {
    const { charges } = this;
    if (charges === null) return 0;
    const { records } = this.rows;
    const isSameLife = known !== -1 && records.incarnation[known] === author.incarnation;
    let row = known === -1 ? -1 : records.first[known];
    for (; row !== -1; row = this.rows.nextOfRecord(row)) charges.settle(this.rows.laneOf(row), source);
    let most = 0;
    for (const report of rows) {
      const mapLane = this.mapLaneOf(report.groupId, report.direction);
      if (!charges.settle(mapLane, source)) continue;
      const before = isSameLife || known === -1 ? this.#rowBefore(known, mapLane, source.slot) : -1;
      const messages = before === -1 ? 0 : this.rows.chargeOf(before, MESSAGES);
      const bytes = before === -1 ? 0 : this.rows.chargeOf(before, BYTES);
      const [chargedMessages, chargedBytes] = chargeIn(report);
      const more = source.isElsewhere ? NO_CHARGE : ([chargedMessages - messages, chargedBytes - bytes] as const);
      const wants = report.demandMessages > 0 || report.demandBytes > 0;
      if (before === -1) charges.beginEntry(mapLane, source, ...more, wants);
      else most = Math.max(most, charges.charge(mapLane, source, ...more, wants));
    }
    return most;
  }

  /** Finds a member's row of a lane. Its own record has few rows, while the lane may have many. */
  #rowBefore(known: number, mapLane: number, slot: number): number {
    let row = known === -1 ? -1 : this.rows.records.first[known];
    while (row !== -1 && this.rows.laneOf(row) !== mapLane) row = this.rows.nextOfRecord(row);
    return row === -1 ? this.rowOf(mapLane, slot) : row;
  }

  /** Inserts the rows of a record. Returns the first one, or −1. */
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
    this.rows.link(row, this.#heads[mapLane]);
    this.#heads[mapLane] = row;
    this.#setCosts(row, mapLane, report);
    this.#onLaneChanged(mapLane);
    return row;
  }

  #setCosts(row: number, mapLane: number, report: ReportRow): void {
    if (report.costs === undefined) return;
    this.costs.set(row, report, mapLane, report.costs);
  }

  #freeLanes(): void {
    this.#mapLanes.free((mapLane) => this.isInUse(mapLane));
    this.#lanesUntilFreed = Math.max(LANES_UNTIL_FREED, 2 * this.#mapLanes.count);
  }

  #release(entry: number): void {
    for (let row = this.rows.records.first[entry]; row !== -1; row = this.rows.nextOfRecord(row)) {
      const mapLane = this.rows.laneOf(row);
      const after = this.rows.unlink(row);
      if (this.#heads[mapLane] === row) this.#heads[mapLane] = after;
      this.costs.release(row, mapLane);
      this.rows.release(row);
      this.#onLaneChanged(mapLane);
    }
  }

  /** Compares lives, then sequences; > 0 = the record is newer. */
  #compare({ author }: ReportRecord, known: number): number {
    const { records } = this.rows;
    const lives = author.incarnation - records.incarnation[known];
    return lives !== 0 ? lives : author.sequence - records.sequence[known];
  }
}

const NOTHING: readonly ReportRow[] = [];
const NO_CHARGE = [0, 0] as const;

/** Drops charge, stock and unread of another log's row. Its charges count from 0 in this log. */
function withNothingCharged(row: ReportRow): ReportRow {
  const { charge, stock: _, unread: __, ...rates } = row;
  return charge === undefined ? rates : { charge: NO_CHARGE, ...rates };
}
