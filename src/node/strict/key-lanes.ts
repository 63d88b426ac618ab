import type { Clock } from '../../base/ports/clock.js';
import type { ReadRecord } from '../../base/ports/report-topic.js';
import type { StrictQuota } from '../../core/strict/strict-quota.js';
import type { StrictWritten } from '../../core/strict/strict-record.js';
import { KeyedRows } from './keyed-rows.js';
import { StrictBucket } from './strict-bucket.js';
import { decodeStrict, isKeyedLane, laneOfKey, rowKeyOf } from './strict-codec.js';

export interface KeyLanesParts {
  readonly cluster: string;
  readonly node: string;
  /** Greater than in earlier processes of this node id. */
  readonly life: number;
  readonly clock: Clock;
  readonly write: (lane: string, records: readonly StrictWritten[]) => void;
  /** Writes that this log has been read for an expiry. */
  readonly writeSteady: (key: string) => void;
}

/** Lives that a lane may begin before it is closed. */
const LIVES_PER_OPENING = 1_000_000;

/** Opens lanes of keys by what the log has of them. */
export class KeyLanes {
  readonly rows: KeyedRows;
  readonly #parts: KeyLanesParts;
  readonly #open = new Map<string, StrictBucket>();
  /** Bucket → own time of its next round; an idle one has none. */
  readonly #due = new Map<StrictBucket, number>();
  #epoch = '';
  #openings = 0;

  constructor(parts: KeyLanesParts) {
    this.#parts = parts;
    this.rows = new KeyedRows({
      ...parts,
      isOpen: (lane) => this.#open.has(lane),
      keep: (lane, quota) => this.#add(lane, quota),
      release: (lane) => this.close(lane),
    });
  }

  /** Opens a lane. It is known at once, unless the log is not. */
  open(lane: string, quota: StrictQuota): StrictBucket {
    if (this.rows.take(lane)) this.close(lane);
    return this.#add(lane, quota);
  }

  /** Gives back what a lane holds, and closes it. */
  close(lane: string): void {
    const bucket = this.#open.get(lane);
    if (bucket === undefined) return;
    bucket.leave();
    this.#open.delete(lane);
    this.#due.delete(bucket);
  }

  closeAll(): void {
    for (const lane of [...this.#open.keys()]) this.close(lane);
  }

  beginEpoch(epoch: string): void {
    this.#epoch = epoch;
    this.rows.beginEpoch(epoch);
    for (const bucket of this.#open.values()) bucket.beginEpoch();
  }

  /** @param offset of the last record that was read */
  caughtUp(offset: number): void {
    this.rows.caughtUp(offset);
    this.#tellAll();
  }

  /** Reads a record; false = it is none of a key. Adds buckets whose rounds are due to `touched`. */
  read(read: ReadRecord, touched: Set<StrictBucket>): boolean {
    if (this.rows.isSteadyRecord(read)) {
      this.#tellAll();
      return true;
    }
    const lane = laneOfKey(read.key);
    if (!isKeyedLane(this.#parts.cluster, lane)) return false;
    this.rows.read(lane, rowKeyOf(read.key), read);
    const bucket = this.#open.get(lane);
    if (bucket === undefined || read.value === null || bucket.isWaitingForRows) return true;
    const record = decodeStrict(read.value, this.#epoch);
    if (record === null) return true;
    bucket.read({ offset: read.offset, appendMs: Math.floor(read.appendMs), record });
    touched.add(bucket);
    return true;
  }

  round(nowMs: number): void {
    for (const [bucket, dueMs] of this.#due) {
      if (dueMs === Infinity) this.#due.delete(bucket);
      else if (dueMs <= nowMs) bucket.round();
    }
    this.rows.round(nowMs);
  }

  #add(lane: string, quota: StrictQuota): StrictBucket {
    const { node, clock, write } = this.#parts;
    const onDue = () => {
      if (this.#open.get(lane) === bucket) this.#due.set(bucket, bucket.dueMs);
    };
    // A lane that was here before had these lives.
    const life = this.#parts.life + LIVES_PER_OPENING * ++this.#openings;
    const bucket = new StrictBucket({ node, life, quota, clock, onDue, write: (records) => write(lane, records) });
    this.#open.set(lane, bucket);
    this.rows.tell(lane, bucket);
    return bucket;
  }

  /** Tells the lanes that wait what the log says of them. */
  #tellAll(): void {
    for (const [lane, bucket] of this.#open) {
      if (!bucket.isWaitingForRows) continue;
      this.rows.tell(lane, bucket);
      if (!bucket.isWaitingForRows) bucket.round();
    }
  }
}
