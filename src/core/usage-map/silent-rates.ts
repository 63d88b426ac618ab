import type { Author, KeyRow } from '../base/protocol/record.js';
import type { GroupId, NodeKey } from '../base/vocabulary.js';
import type { Member, Membership } from './membership.js';
import type { UsageMap } from './usage-map.js';

/** Grants of a silent key, units per second. */
export type SilentRates = Pick<KeyRow, 'messages' | 'bytes'>;

type Visit = (member: Member, rates: SilentRates) => void;

/**
 * Keeps what heartbeats have told of keys: names, and what nodes grant of keys that they do not report
 * (core/report/key-names.ts). Such a word holds until its node reports the key, begins another life, or has not
 * repeated it for two minutes. It is shown, and no share follows from it.
 */
export class SilentRatesBook {
  readonly #membership: Membership;
  readonly #usageMap: UsageMap;
  /** By group and direction, one word of each node; the lane of which nothing was told for longest comes first. */
  readonly #lanes = new Map<string, Published[]>();
  #count = 0;
  /** Names of keys that heartbeats have told since they were taken last. */
  #names: KeyName[] = [];

  constructor(membership: Membership, usageMap: UsageMap) {
    this.#membership = membership;
    this.#usageMap = usageMap;
  }

  note({ nodeKey, incarnation }: Author, rows: readonly KeyRow[], nowMs: number): void {
    for (const { groupId, direction, name, messages, bytes } of rows) {
      if (this.#names.length < NAMES_UNTAKEN_MAX) this.#names.push({ groupId, name });
      const key = laneKey(groupId, direction);
      const others = (this.#lanes.get(key) ?? []).filter((published) => {
        return published.nodeKey !== nodeKey && nowMs - published.nowMs <= HOLDS_MS;
      });
      const isOver = messages === 0 && bytes === 0;
      const lane = isOver ? others : [...others, { nodeKey, incarnation, messages, bytes, nowMs }];
      this.#remove(key);
      if (lane.length > 0) this.#lanes.set(key, lane);
      this.#count += lane.length;
    }
    this.#forgetOld(nowMs);
  }

  /** Visits every alive node that grants of the lane and reports nothing of it. */
  forEach(groupId: GroupId, direction: number, nowMs: number, visit: Visit): void {
    const lane = this.#lanes.get(laneKey(groupId, direction));
    if (lane === undefined) return;
    const mapLane = this.#usageMap.findMapLane(groupId, direction);
    for (const published of lane) {
      const member = this.#membership.get(published.nodeKey);
      if (member?.state !== 'alive' || member.incarnation !== published.incarnation) continue;
      if (nowMs - published.nowMs > HOLDS_MS) continue;
      if (mapLane !== -1 && this.#usageMap.rowOf(mapLane, member.slot) !== -1) continue;
      visit(member, published);
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
      const isOld = nowMs - (lane.at(-1) as Published).nowMs > HOLDS_MS;
      if (!isOld && this.#count <= PUBLISHED_MAX) return;
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
export type KeyName = Pick<KeyRow, 'groupId' | 'name'>;

const NO_NAMES: readonly KeyName[] = [];

interface Published extends SilentRates {
  readonly nodeKey: NodeKey;
  /** The life of the node that told it. */
  readonly incarnation: number;
  /** When it was read, local monotonic time. */
  readonly nowMs: number;
}

/** Nodes repeat it every 30 s. */
const HOLDS_MS = 120_000;
/** All nodes together tell of 32 lanes a second; 16,384 words take about 5 MB. */
const PUBLISHED_MAX = 16_384;
/** Names are taken in every round; the log is read at once at the start. */
const NAMES_UNTAKEN_MAX = 4096;
