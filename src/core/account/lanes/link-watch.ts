import type { Notice } from '../../base/protocol/events-and-effects.js';
import type { CoordinatorSettings } from '../../base/settings.js';
import { MEMBERSHIP_PARTITION } from '../../base/vocabulary.js';
import { OwnEcho } from '../../log/own-echo.js';
import type { Link } from './isolation.js';
import type { LaneState } from './lane-state.js';

/**
 * Watches per partition if this node reads its own records back. A group is linked when both its own partition and the
 * membership partition are. Only the local monotonic clock counts.
 */
export class LinkWatch {
  readonly echo: OwnEcho;
  readonly #settings: CoordinatorSettings;
  readonly #notices: Notice[];
  readonly #linked: boolean[];
  /** Only echoes of records sent from this time on are accepted. */
  expectedSinceMs = Infinity;

  constructor(settings: CoordinatorSettings, notices: Notice[]) {
    this.#settings = settings;
    this.#notices = notices;
    this.echo = new OwnEcho(settings.partitions);
    this.#linked = Array.from({ length: settings.partitions }, () => true);
  }

  hasExpectedEcho(): boolean {
    return this.echo.freshMs.every((freshMs) => freshMs >= this.expectedSinceMs);
  }

  /** Tests if the partition is linked and read as far as expected. */
  isHeard(partition: number): boolean {
    return this.#linked[partition] && this.echo.freshMs[partition] >= this.expectedSinceMs;
  }

  of(partition: number): Link {
    return this.#linked[partition] ? 'linked' : 'held';
  }

  get isolatedPartitions(): number[] {
    return this.#linked.flatMap((linked, partition) => (linked ? [] : [partition]));
  }

  /** True = no partition is isolated. */
  get isWhole(): boolean {
    return !this.#linked.includes(false);
  }

  silentMs(partition: number, nowMs: number): number {
    return nowMs - this.echo.freshMs[partition];
  }

  /** Returns the worse link of both partitions, by the group's hold time. */
  worse(lane: LaneState, nowMs: number): Link {
    const silentMs = Math.max(
      this.#linked[lane.partition] ? 0 : this.silentMs(lane.partition, nowMs),
      this.#linked[MEMBERSHIP_PARTITION] ? 0 : this.silentMs(MEMBERSHIP_PARTITION, nowMs),
    );
    if (silentMs === 0) return 'linked';
    return silentMs > lane.settings.isolation.holdMs ? 'fallback' : 'held';
  }

  /** Checks all partitions. Returns true if one was lost or came back; fallbacks begin lane by lane (`worse`). */
  watch(nowMs: number): boolean {
    let changed = false;
    for (let partition = 0; partition < this.#linked.length; partition++) {
      const silentMs = this.silentMs(partition, nowMs);
      const linked = silentMs <= this.#toleranceMs(partition);
      if (linked === this.#linked[partition]) continue;
      this.#linked[partition] = linked;
      changed = true;
      this.#notices.push({ kind: linked ? 'reconnected' : 'isolated', partition, silentMs });
    }
    return changed;
  }

  #toleranceMs(partition: number): number {
    const { isolationAfterMs, partitionHeartbeatMs } = this.#settings;
    return partition === MEMBERSHIP_PARTITION ? isolationAfterMs : isolationAfterMs + partitionHeartbeatMs;
  }
}
