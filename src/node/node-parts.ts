import type { ResolvedConfig } from '../config/resolved/resolved-config.js';
import type { Clock } from '../ports/clock.js';
import type { ReportTopic } from '../ports/report-topic.js';
import type { Telemetry } from '../ports/telemetry.js';
import type { WakingClock } from './waking-clock.js';

/** What a node is put together from. */
export interface QuotaNodeOptions {
  readonly config: ResolvedConfig;
  readonly topic: ReportTopic;
  /** Of the groups that are defined at run time; without it there are none. */
  readonly registryTopic?: ReportTopic | null;
  readonly telemetry: Telemetry;
  readonly version: string;
  /** Random 16-bit number, see CoordinatorSettings. */
  readonly nonce: number;
  /** Default: that of `wakingClock`. */
  readonly clock?: Clock;
  /** Default: this machine's; none where `clock` is given. */
  readonly wakingClock?: WakingClock;
}
