import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { StrictQuota } from '../../core/strict/strict-quota.js';
import type { StrictLaneState } from '../api/node-status.js';
import type { GroupTable } from '../groups/group-table.js';
import { becauseOf, stateByLog } from './lane-states.js';
import type { StrictBucket } from './strict-bucket.js';
import { keyedLaneName } from './strict-codec.js';
import type { StrictLog } from './strict-log.js';

interface OpenKeysParts<Lane> {
  readonly log: Pick<StrictLog, 'open' | 'keyed' | 'lost' | 'unsafe'>;
  readonly cluster: string;
  readonly groups: GroupTable;
  /** Keys of which the log has something, at most: keys.maxLoud. */
  readonly maxKeys: number;
  /** Returns the part of a lane's name that says what it counts. */
  readonly whatOf: (group: number) => string;
  readonly make: (name: string, bucket: StrictBucket, group: number) => Lane;
  /** Tests if something beside the bucket needs the lane. */
  readonly isNeeded: (lane: Lane) => boolean;
}

/** Milliseconds without a request after which a key's lane is closed. More: fewer are opened again. */
const IDLE_MS = 10_000;

/** Opens lanes of keys while they are used. A key may have another number by the next time. */
export class OpenKeys<Lane extends { readonly name: string; readonly bucket: StrictBucket }> {
  readonly #parts: OpenKeysParts<Lane>;
  /** Number of a key, open or not → what it may have. */
  readonly #keys = new Map<number, StrictQuota>();
  readonly #open = new Map<string, Lane>();

  constructor(parts: OpenKeysParts<Lane>) {
    this.#parts = parts;
  }

  /** Keys that were used here. */
  get size(): number {
    return this.#keys.size;
  }

  get openCount(): number {
    return this.#open.size;
  }

  has(group: number): boolean {
    return this.#keys.has(group);
  }

  isOpen(name: string): boolean {
    return this.#open.has(name);
  }

  /** Follows a key. Returns false if this lane is another key's. */
  read(group: number, quota: StrictQuota, known: Lane | undefined): boolean {
    const keyed = { ...quota, keyed: true } as const;
    this.#keys.set(group, keyed);
    if (known === undefined) return true;
    if (known.name !== this.#nameOf(group)) return false;
    if (known.bucket.quota.depth !== keyed.depth) known.bucket.propose(keyed);
    return true;
  }

  forget(group: number): void {
    this.#keys.delete(group);
  }

  /** Opens a key's lane; undefined = the number is no such key's. */
  open(group: number): Lane | undefined {
    const quota = this.#keys.get(group);
    if (quota === undefined) return undefined;
    const name = this.#nameOf(group);
    const lane = this.#open.get(name) ?? this.#parts.make(name, this.#parts.log.open(name, quota), group);
    this.#open.set(name, lane);
    return lane;
  }

  /** Returns a key's lane if it is open, silent or not. */
  ofKey(key: string, what: string): Lane | undefined {
    return this.#open.get(keyedLaneName(this.#parts.cluster, key, what));
  }

  /** Closes a lane; false = it is no key's. */
  close(name: string): boolean {
    const isKey = this.#open.delete(name);
    if (isKey) this.#parts.log.keyed.close(name);
    return isKey;
  }

  /** Closes lanes that nobody uses here. */
  closeIdle(): void {
    for (const [name, lane] of this.#open) {
      if (!this.#parts.isNeeded(lane) && lane.bucket.isIdleFor(IDLE_MS)) this.close(name);
    }
  }

  /** Throws KEYS_FULL where the log has no room for a new key. */
  rejectIfFull(key: string, what: string): void {
    const { log, cluster, maxKeys } = this.#parts;
    const name = keyedLaneName(cluster, key, what);
    const { rows } = log.keyed;
    if (rows.size < maxKeys || rows.has(name) || this.#open.has(name)) return;
    throw new QuotameshError('KEYS_FULL', { key, bound: 'maxLoud', max: maxKeys });
  }

  /** Tells if keys can be opened. */
  get state(): StrictLaneState {
    const { log } = this.#parts;
    return stateByLog(log, { doubt: this.#keys.size > 0 && !log.keyed.rows.isOpen ? 'learning' : null });
  }

  /** Says for people why they cannot; '' = they can, or none is used. */
  get because(): string {
    return becauseOf(this.state, this.#parts.log);
  }

  #nameOf(group: number): string {
    const { cluster, groups, whatOf } = this.#parts;
    return keyedLaneName(cluster, groups.at(group).name, whatOf(group));
  }
}
