import { BYTES, DIMENSION_COUNT, type GroupId, MESSAGES, type NodeKey } from '../base/vocabulary.js';
import type { Author, ObservedRow } from '../protocol/record.js';
import type { Membership } from './membership.js';
import type { RowStore } from './row-store.js';
import type { UsageMap } from './usage-map.js';

/** Units per second, in both dimensions, and topics in use. */
export interface ObservedRates {
  readonly topics: number;
  readonly usage: Readonly<Float32Array>;
  readonly demand: Readonly<Float32Array>;
}

/**
 * @param index of the member among the alive ones
 * @param row of the member in the usage map; −1 = it reports nothing of the lane
 */
type Visit = (index: number, rates: ObservedRates, row: number) => void;

/**
 * What heartbeats have told of lanes, beside reports (core/report/observed-rates.ts). Such a word holds until its node
 * reports other rates of the lane, begins another life, or has not repeated it for two minutes. It is shown, and no
 * share follows from it.
 */
export class ObservedBook {
  readonly #membership: Membership;
  readonly #usageMap: UsageMap;
  /** By group and direction, one word of each node; the lane of which nothing was told for longest comes first. */
  readonly #lanes = new Map<string, Told[]>();
  #count = 0;
  /** Names of keys that heartbeats have told since they were taken last. */
  #names: KeyName[] = [];

  constructor(membership: Membership, usageMap: UsageMap) {
    this.#membership = membership;
    this.#usageMap = usageMap;
  }

  note({ nodeKey, incarnation }: Author, rows: readonly ObservedRow[], nowMs: number): void {
    const slot = this.#membership.get(nodeKey)?.slot ?? -1;
    for (const observed of rows) {
      const { groupId, direction, name } = observed;
      if (name !== '' && this.#names.length < NAMES_UNTAKEN_MAX) this.#names.push({ groupId, name });
      const key = laneKey(groupId, direction);
      const mapLane = this.#usageMap.findMapLane(groupId, direction);
      const row = mapLane === -1 ? -1 : this.#usageMap.rowOf(mapLane, slot);
      const others = (this.#lanes.get(key) ?? []).filter((told) => {
        return told.nodeKey !== nodeKey && nowMs - told.nowMs <= HOLDS_MS;
      });
      const told = { nodeKey, incarnation, ...ratesIn(observed), beside: reportedIn(this.#usageMap.rows, row), nowMs };
      const isOver = row === -1 && isSame(told, NOTHING);
      const lane = isOver ? others : [...others, told];
      this.#remove(key);
      if (lane.length > 0) this.#lanes.set(key, lane);
      this.#count += lane.length;
    }
    this.#forgetOld(nowMs);
  }

  /** Every alive node whose rates are others now than those in its row. */
  forEach(groupId: GroupId, direction: number, nowMs: number, visit: Visit): void {
    const lane = this.#lanes.get(laneKey(groupId, direction));
    if (lane === undefined) return;
    const mapLane = this.#usageMap.findMapLane(groupId, direction);
    const { rows } = this.#usageMap;
    for (const told of lane) {
      const member = this.#membership.get(told.nodeKey);
      if (member?.state !== 'alive' || member.incarnation !== told.incarnation) continue;
      if (nowMs - told.nowMs > HOLDS_MS) continue;
      const row = mapLane === -1 ? -1 : this.#usageMap.rowOf(mapLane, member.slot);
      if (isSame(told.beside, reportedIn(rows, row))) visit(this.#membership.indexOf(told.nodeKey), told, row);
    }
  }

  /** Names of keys that were told since this was called last, as they were told: each may come several times. */
  takeNames(): readonly KeyName[] {
    if (this.#names.length === 0) return NO_NAMES;
    const names = this.#names;
    this.#names = [];
    return names;
  }

  has(groupId: GroupId, direction: number): boolean {
    return this.#lanes.has(laneKey(groupId, direction));
  }

  /** Called when another log begins. */
  forgetAll(): void {
    this.#lanes.clear();
    this.#count = 0;
    this.#names = [];
  }

  #forgetOld(nowMs: number): void {
    for (const [key, lane] of this.#lanes) {
      const isOld = nowMs - (lane.at(-1) as Told).nowMs > HOLDS_MS;
      if (!isOld && this.#count <= TOLD_MAX) return;
      this.#remove(key);
    }
  }

  #remove(key: string): void {
    this.#count -= this.#lanes.get(key)?.length ?? 0;
    this.#lanes.delete(key);
  }
}

function laneKey(groupId: GroupId, direction: number): string {
  return `${groupId}/${direction}`;
}

/** Names a key, as a node has published it. */
export interface KeyName {
  readonly groupId: GroupId;
  readonly name: string;
}

const NO_NAMES: readonly KeyName[] = [];

type Rates = Omit<ObservedRates, 'topics'>;

interface Told extends ObservedRates {
  readonly nodeKey: NodeKey;
  /** The life of the node that told it. */
  readonly incarnation: number;
  /** What stood in the usage map then. */
  readonly beside: Rates;
  /** When it was read, local monotonic time. */
  readonly nowMs: number;
}

/** Nodes repeat it every 30 s. */
const HOLDS_MS = 120_000;
/** All nodes together tell of 32 lanes a second; 16,384 words take about 8 MB. */
const TOLD_MAX = 16_384;
/** Names are taken in every round; the log is read at once at the start. */
const NAMES_UNTAKEN_MAX = 4096;

const NOTHING: Rates = { usage: new Float32Array(DIMENSION_COUNT), demand: new Float32Array(DIMENSION_COUNT) };

function ratesIn(observed: ObservedRow): ObservedRates {
  const { topics, usageMessages, usageBytes, demandMessages, demandBytes } = observed;
  return {
    topics,
    usage: Float32Array.of(usageMessages, usageBytes),
    demand: Float32Array.of(demandMessages, demandBytes),
  };
}

function reportedIn(rows: RowStore, row: number): Rates {
  if (row === -1) return NOTHING;
  const [page, start] = [rows.pageOf(row), rows.startOf(row)];
  return {
    usage: Float32Array.of(page.usageOf(start, MESSAGES), page.usageOf(start, BYTES)),
    demand: Float32Array.of(page.demandOf(start, MESSAGES), page.demandOf(start, BYTES)),
  };
}

function isSame(one: Rates, other: Rates): boolean {
  const isEqual = (column: 'usage' | 'demand') => {
    return one[column].every((rate, dimension) => rate === other[column][dimension]);
  };
  return isEqual('usage') && isEqual('demand');
}
