import type { CoordinatorSettings } from '../base/settings.js';
import { MEMBERSHIP_PARTITION } from '../base/vocabulary.js';
import { SOON_MS } from './constants/constants.js';

export interface Circumstances {
  /** True if a node has been silent for longer than the staleness. */
  readonly suspected: boolean;
  /** The own echo of the partition is fresh. Without it the slow beat would delay the notice of its return. */
  readonly heard: boolean;
  /** Milliseconds between beats for a share or ramp that moves; Infinity = none. */
  readonly movingBeatMs: number;
  /** True if the next record would claim another size of the pool. */
  readonly isNews?: boolean;
  /** Default: 'here'. */
  readonly presence?: Presence;
}

/**
 * State of this node on a partition but the first. `here`: alive there. `missing`: not alive there, though a member of
 * the cluster, as after a pause in which others have given it up. `gone`: neither; a record would only bring another
 * FAREWELL.
 */
export type Presence = 'here' | 'missing' | 'gone';

/**
 * Times NODE records: every heartbeat on the membership partition, slower on the others. Those only have to keep log
 * time going, and to notice a lost leader. Every append of its own is a record batch of 61 bytes plus record and a
 * wake-up of every reader: at 100 nodes and 16 partitions one per second on all would be over 8 MB per node and minute,
 * on one 0.5 MB.
 *
 * Beats come sooner at a suspected death: all append, so that log time moves on and the share is free sooner. One that
 * failed comes again, because three in a row isolate. A share that moves does so from record to record (smoothing,
 * slew): small records keep the steps small.
 */
export class Heartbeat {
  readonly #settings: CoordinatorSettings;
  readonly #sentMs: Float64Array;
  readonly #reportedMs: Float64Array;
  /** Per partition: true if the last beat may not be in the log. */
  readonly #hasFailed: boolean[];

  constructor(settings: CoordinatorSettings) {
    this.#settings = settings;
    this.#sentMs = new Float64Array(settings.partitions).fill(-Infinity);
    this.#reportedMs = this.#sentMs.slice();
    this.#hasFailed = Array.from({ length: settings.partitions }, () => false);
  }

  isDue(
    partition: number,
    { suspected, heard, movingBeatMs, isNews = false, presence = 'here' }: Circumstances,
    nowMs: number,
  ): boolean {
    const sinceMs = nowMs - this.#sentMs[partition];
    const { heartbeatMs, partitionHeartbeatMs, reportGapMs } = this.#settings;
    if (presence === 'gone') return false;
    if (presence === 'missing') return sinceMs >= SOON_MS;
    if (isNews && sinceMs >= reportGapMs) return true;
    const silentMs = Math.min(sinceMs, nowMs - this.#reportedMs[partition]);
    if (heard && silentMs >= movingBeatMs) return true;
    const hasFailed = this.#hasFailed[partition];
    if (partition === MEMBERSHIP_PARTITION) return sinceMs >= (suspected || hasFailed ? SOON_MS : heartbeatMs);
    return sinceMs >= (heard && !hasFailed ? partitionHeartbeatMs : heartbeatMs);
  }

  /** Notes a report, which moves log time on as well. */
  reported(partition: number, nowMs: number): void {
    this.#reportedMs[partition] = nowMs;
  }

  sent(partition: number, nowMs: number): void {
    this.#sentMs[partition] = nowMs;
    this.#hasFailed[partition] = false;
  }

  /** Notes a failed beat: a node waits less than 2 × partitionHeartbeatMs for its own, so the next is soon. */
  failed(partition: number): void {
    this.#hasFailed[partition] = true;
  }
}
