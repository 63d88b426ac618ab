import { RECORDS_PER_CALL } from '../account/constants.js';
import type { ReadEvent } from '../base/protocol/events-and-effects.js';
import type { CoordinatorSettings } from '../base/settings.js';
import type { RampCeiling } from '../target/ramp/ramp-book.js';
import { SOON_MS } from './constants/constants.js';
import type { RampSink, RampWord, RampWriterParts } from './ramp-writer.js';

export type RecordPlace = Pick<ReadEvent, 'partition' | 'offset'>;

interface Hidden {
  /** Local monotonic time since which newcomers would not find it. */
  sinceMs: number;
  /** Partition of the newest record that hides it. */
  partition: number;
  offset: number;
  /** Local monotonic time at which this node writes it. */
  dueMs: number;
  wroteMs: number;
}

interface HiddenCeilingsParts extends Omit<RampWriterParts, 'shares'> {
  readonly settings: Pick<CoordinatorSettings, 'partitionHeartbeatMs'>;
}

/**
 * Writes ceilings again that newcomers would not find. All nodes write the ceiling of a lane under one key, and
 * compaction keeps only the last record of a key. If no node applies that one (it is signed with another key, or of a
 * past life, or its writer had not read the ceiling in force), a node that starts would begin the ramp anew, while
 * those that have read the whole log stand higher. The new record changes nothing for nodes that have the ceiling: it
 * has the same height, age and end.
 */
export class HiddenCeilings {
  /** Milliseconds of the longest hiding, as of the last round. */
  longestMs = 0;
  readonly #parts: HiddenCeilingsParts;
  /** By map lane; at most as many as there are ceilings. */
  readonly #hidden = new Map<number, Hidden>();

  constructor(parts: HiddenCeilingsParts) {
    this.#parts = parts;
  }

  /** Called when a record without effect is read under a ceiling's key. */
  hide(mapLane: number, { partition, offset }: RecordPlace, nowMs: number): void {
    const { membership, nodeKey } = this.#parts;
    const { count } = membership.on(partition);
    const own = membership.indexOf(nodeKey, partition);
    // By turns, because a newcomer does not have the ceiling, and may be the first in any fixed order.
    const rank = count === 0 || own === -1 ? 0 : (own + offset) % count;
    const before = this.#hidden.get(mapLane);
    const wroteMs = before?.wroteMs ?? -Infinity;
    const dueMs = Math.max(nowMs + rank * SOON_MS, wroteMs + this.#parts.settings.partitionHeartbeatMs);
    const sinceMs = before !== undefined && this.#unsaid(mapLane, before) !== undefined ? before.sinceMs : nowMs;
    this.#hidden.set(mapLane, { sinceMs, partition, offset, dueMs, wroteMs });
  }

  /** Tests if newcomers would miss the ceiling of a lane. */
  has(mapLane: number): boolean {
    const hidden = this.#hidden.get(mapLane);
    return hidden !== undefined && this.#unsaid(mapLane, hidden) !== undefined;
  }

  /** Called when another log begins, into which all nodes write everything. */
  forgetAll(): void {
    this.#hidden.clear();
    this.longestMs = 0;
  }

  /** Calls `write` for every ceiling that this node has to write now. */
  writeDue(nowMs: number, { mayWrite, write }: RampSink): void {
    let said = 0;
    this.longestMs = 0;
    for (const [mapLane, hidden] of this.#hidden) {
      const ceiling = this.#unsaid(mapLane, hidden);
      if (ceiling === undefined) {
        if (nowMs - hidden.wroteMs >= this.#parts.settings.partitionHeartbeatMs) this.#hidden.delete(mapLane);
        continue;
      }
      this.longestMs = Math.max(this.longestMs, nowMs - hidden.sinceMs);
      if (hidden.dueMs > nowMs || said >= RECORDS_PER_CALL || !mayWrite(hidden.partition)) continue;
      write(this.#wordOf(mapLane, hidden.partition, ceiling));
      said++;
      hidden.wroteMs = nowMs;
      hidden.dueMs = nowMs + this.#parts.settings.partitionHeartbeatMs;
    }
  }

  /** The ceiling in force; undefined if it was written since, or has ended. */
  #unsaid(mapLane: number, { partition, offset }: RecordPlace): RampCeiling | undefined {
    const ramps = this.#parts.ramps[partition];
    const known = ramps.newestOf(mapLane);
    return known !== undefined && known.offset <= offset && ramps.ageMs(known) < known.timeToLiveMs ? known : undefined;
  }

  #wordOf(mapLane: number, partition: number, known: RampCeiling): RampWord {
    const { usageMap } = this.#parts;
    const ramps = this.#parts.ramps[partition];
    const { ceiling, sinceLogMs } = known;
    const timeToLiveMs = known.timeToLiveMs - ramps.ageMs(known);
    const lateMs = ramps.logMs - sinceLogMs;
    return { ...usageMap.groupOf(mapLane), ceiling, lateMs, timeToLiveMs, ...ramps.readUntil };
  }
}
