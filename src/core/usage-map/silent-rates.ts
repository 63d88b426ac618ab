import type { Author, KeyRow } from '../base/protocol/record.js';
import type { GroupId, NodeKey } from '../base/vocabulary.js';
import { SILENT_RATES_MAX, SILENT_RATES_MS, UNTAKEN_NAMES_MAX } from './constants.js';
import type { Member, Membership } from './membership.js';
import type { UsageMap } from './usage-map.js';

/** Grants of a silent key, units per second. */
export type SilentRates = Pick<KeyRow, 'messages' | 'bytes'>;

type Visit = (member: Member, rates: SilentRates) => void;

/**
 * Keeps the names and grants of keys from heartbeats (core/report/key-names.ts). Grants concern keys without reports.
 * An entry holds until its node reports the key, begins another life, or has not repeated the entry for two minutes. It
 * is shown, and no share follows from it.
 */
export class SilentRatesBook {
  readonly #membership: Membership;
  readonly #usageMap: UsageMap;
  /** Entries by group and direction, one per node; the longest unchanged lane comes first. */
  readonly #lanes = new Map<string, Published[]>();
  #count = 0;
  /** Names of keys in heartbeats since they were taken last. */
  #names: KeyName[] = [];

  constructor(membership: Membership, usageMap: UsageMap) {
    this.#membership = membership;
    this.#usageMap = usageMap;
  }

  note({ nodeKey, incarnation }: Author, rows: readonly KeyRow[], nowMs: number): void {
    for (const { groupId, direction, name, messages, bytes } of rows) {
      if (this.#names.length < UNTAKEN_NAMES_MAX) this.#names.push({ groupId, name });
      const key = laneKey(groupId, direction);
      const others = (this.#lanes.get(key) ?? []).filter((published) => {
        return published.nodeKey !== nodeKey && nowMs - published.nowMs <= SILENT_RATES_MS;
      });
      const isOver = messages === 0 && bytes === 0;
      const lane = isOver ? others : [...others, { nodeKey, incarnation, messages, bytes, nowMs }];
      this.#remove(key);
      if (lane.length > 0) this.#lanes.set(key, lane);
      this.#count += lane.length;
    }
    this.#forgetOld(nowMs);
  }

  /** Visits alive nodes that grant of the lane without a report. */
  forEach(groupId: GroupId, direction: number, nowMs: number, visit: Visit): void {
    const lane = this.#lanes.get(laneKey(groupId, direction));
    if (lane === undefined) return;
    const mapLane = this.#usageMap.findMapLane(groupId, direction);
    for (const published of lane) {
      const member = this.#membership.get(published.nodeKey);
      if (member?.state !== 'alive' || member.incarnation !== published.incarnation) continue;
      if (nowMs - published.nowMs > SILENT_RATES_MS) continue;
      if (mapLane !== -1 && this.#usageMap.rowOf(mapLane, member.slot) !== -1) continue;
      visit(member, published);
    }
  }

  /** Takes the names read since the last call; each may come several times. */
  takeNames(): readonly KeyName[] {
    if (this.#names.length === 0) return NO_NAMES;
    const names = this.#names;
    this.#names = [];
    return names;
  }

  has(groupId: GroupId, direction: number): boolean {
    return this.#lanes.has(laneKey(groupId, direction));
  }

  forgetAll(): void {
    this.#lanes.clear();
    this.#count = 0;
    this.#names = [];
  }

  #forgetOld(nowMs: number): void {
    for (const [key, lane] of this.#lanes) {
      const isOld = nowMs - (lane.at(-1) as Published).nowMs > SILENT_RATES_MS;
      if (!isOld && this.#count <= SILENT_RATES_MAX) return;
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

export type KeyName = Pick<KeyRow, 'groupId' | 'name'>;

const NO_NAMES: readonly KeyName[] = [];

interface Published extends SilentRates {
  readonly nodeKey: NodeKey;
  /** Life of the node that published the entry. */
  readonly incarnation: number;
  /** Local monotonic time of reading. */
  readonly nowMs: number;
}
