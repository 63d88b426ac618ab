import type { Telemetry } from '../../base/ports/telemetry.js';
import { slotsQuotaOf } from '../../config/resolved/strict-quota.js';
import type { StrictWallet } from '../../core/strict/strict-wallet.js';
import type { StrictLaneState } from '../api/node-status.js';
import type { GroupTable } from '../groups/group-table.js';
import { ALL_KEYS, becauseOf, stateByLog, ToldStates } from './lane-states.js';
import { OpenKeys } from './open-keys.js';
import type { StrictBucket } from './strict-bucket.js';
import { slotsName } from './strict-codec.js';
import type { StrictLog } from './strict-log.js';

interface SlotLanesParts {
  readonly log: Pick<StrictLog, 'add' | 'open' | 'remove' | 'lost' | 'unsafe' | 'keyed'>;
  readonly cluster: string;
  readonly groups: GroupTable;
  readonly telemetry: Telemetry;
  /** Keys of which the log has something, at most: keys.maxLoud. */
  readonly maxKeys: number;
}

/** Slots of a group as admission sees them. */
export type KeptSlots = Pick<
  SlotLanes,
  'get' | 'keeps' | 'isEmpty' | 'rejectIfFull' | 'read' | 'end' | 'stateOf' | 'because'
>;

export const NO_SLOTS: KeptSlots = {
  get: () => undefined,
  keeps: () => false,
  isEmpty: true,
  rejectIfFull: () => {},
  read: () => {},
  end: () => {},
  stateOf: () => 'kept',
  because: () => '',
};

/** Milliseconds between looks. More: the log says later that a group lets nobody in. */
const LOOK_MS = 500;
const WHAT = 'slots';

/** Keeps the slots of groups with concurrency, and of keys: those are open while they are used. */
export class SlotLanes {
  readonly #parts: SlotLanesParts;
  readonly #lanes = new Map<number, SlotLane>();
  readonly #keys: OpenKeys<SlotLane>;
  readonly #told: ToldStates;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: SlotLanesParts) {
    this.#parts = parts;
    this.#keys = new OpenKeys({
      ...parts,
      whatOf: () => WHAT,
      make: (name, bucket) => new SlotLane(name, bucket),
      isNeeded: ({ lost }) => lost > 0,
    });
    this.#told = new ToldStates(parts.telemetry, {
      again: 'group with concurrency lets requests in again',
      stopped: 'group with concurrency lets nobody in',
    });
  }

  /** Logs from now on when a group lets nobody in. */
  start(): void {
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Returns the slots of a group or key; opens a key's lane. */
  get(group: number): SlotLane | undefined {
    const known = this.#lanes.get(group);
    if (known !== undefined) return known;
    const opened = this.#keys.open(group);
    if (opened !== undefined) this.#lanes.set(group, opened);
    return opened;
  }

  /** Returns the slots of a group, or of an open key. */
  known(group: number): SlotLane | undefined {
    return this.#lanes.get(group);
  }

  /** Tests if a group or key limits concurrency; opens nothing. */
  keeps(group: number): boolean {
    return this.#lanes.has(group) || this.#keys.has(group);
  }

  get isEmpty(): boolean {
    return this.#lanes.size + this.#keys.size === 0;
  }

  /** Slots by group, of keys that are open here as well. */
  get all(): ReadonlyMap<number, SlotLane> {
    return this.#lanes;
  }

  /** Keys whose lanes are open here. */
  get openKeys(): number {
    return this.#keys.openCount;
  }

  /** Follows a new or changed group. */
  read(group: number): void {
    const { cluster, groups, log } = this.#parts;
    const config = groups.at(group);
    const quota = slotsQuotaOf(config);
    const known = this.#lanes.get(group);
    if (quota === null) this.end(group);
    else if (groups.isKey(group)) {
      if (!this.#keys.read(group, quota, known)) this.#lanes.delete(group);
    } else if (known !== undefined) known.bucket.propose(quota);
    else {
      const name = slotsName(cluster, config.name);
      this.#lanes.set(group, new SlotLane(name, log.add(name, quota)));
    }
  }

  /** Throws KEYS_FULL where the log has no room for a new key. */
  rejectIfFull(key: string): void {
    this.#keys.rejectIfFull(key, WHAT);
  }

  /** Gives back what nobody uses, and forgets the group. */
  end(group: number): void {
    this.#keys.forget(group);
    const known = this.#lanes.get(group);
    if (known === undefined) return;
    this.#lanes.delete(group);
    this.#told.forget(group);
    if (!this.#keys.close(known.name)) this.#parts.log.remove(known.name);
  }

  /** Closes lanes of keys that nobody uses here. */
  #closeIdle(): void {
    this.#keys.closeIdle();
    for (const [group, { name }] of this.#lanes) {
      if (!this.#keys.has(group) || this.#keys.isOpen(name)) continue;
      this.#lanes.delete(group);
      this.#told.forget(group);
    }
  }

  /** Tells if this node knows which slots it holds. */
  stateOf({ bucket }: SlotLane): StrictLaneState {
    return stateByLog(this.#parts.log, bucket);
  }

  /** Says for people why a group lets nobody in; '' = it does. */
  because(lane: SlotLane): string {
    return becauseOf(this.stateOf(lane), this.#parts.log);
  }

  close(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
  }

  /** Logs lost slots, and when a group lets nobody in. */
  #look(): void {
    const { groups, telemetry } = this.#parts;
    this.#closeIdle();
    for (const [group, lane] of this.#lanes) {
      const facts = { group: groups.at(group).name };
      const lost = lane.look();
      if (lost > 0) telemetry.log('warn', 'requests run without their slots: others may have them', { ...facts, lost });
      // A stranger chooses how many keys there are.
      if (!this.#keys.has(group)) this.#told.tell(group, this.stateOf(lane), this.because(lane), facts);
    }
    this.#told.tell(ALL_KEYS, this.#keys.state, this.#keys.because, { keys: this.#keys.size });
  }

  /** Says for people why keys let nobody in; '' = they do, or none is used. */
  get becauseOfKeys(): string {
    return this.#keys.because;
  }
}

/** Counts one group's slots at this node. */
export class SlotLane {
  readonly name: string;
  readonly bucket: StrictBucket;
  /** Since the start of the process. */
  readonly counts = { entered: 0, refused: 0, lost: 0 };
  #wallet: StrictWallet | null = null;
  /** Wallets that have ended while requests held their slots. */
  #former: StrictWallet[] = [];

  constructor(name: string, bucket: StrictBucket) {
    this.name = name;
    this.bucket = bucket;
  }

  /** Requests that hold a slot here. */
  get inUse(): number {
    const { wallet } = this.bucket;
    return wallet !== null && this.bucket.isAlive(wallet) ? wallet.inUse : 0;
  }

  /** Requests that run here although their slots may be others' by now. */
  get lost(): number {
    const { wallet } = this.bucket;
    const all = wallet === null || this.#former.includes(wallet) ? this.#former : [...this.#former, wallet];
    return all.reduce((sum, each) => sum + (this.bucket.isAlive(each) ? 0 : each.inUse), 0);
  }

  /** Counts a request that has entered. */
  entered(wallet: StrictWallet): void {
    this.counts.entered++;
    if (wallet !== this.#wallet) this.#follow(wallet);
  }

  /** Looks for slots that were lost; returns how many since the last look. */
  look(): number {
    const before = this.counts.lost;
    const { wallet } = this.bucket;
    if (wallet !== this.#wallet) this.#follow(wallet);
    this.#former = this.#former.filter(({ inUse }) => inUse > 0);
    return this.counts.lost - before;
  }

  #follow(wallet: StrictWallet | null): void {
    const former = this.#wallet;
    this.#wallet = wallet;
    if (former === null || former.inUse === 0) return;
    this.#former.push(former);
    this.counts.lost += former.inUse;
  }
}
