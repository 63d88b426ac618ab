import type { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Clock } from '../../base/ports/clock.js';
import type { ReportTopic } from '../../base/ports/report-topic.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { Attachments } from '../../core/beside/attachments/attachments.js';
import type { Limiter } from '../../core/limiter/limiter.js';
import type { Figure } from '../../core/limiter/refused-work.js';
import type { CoordinatorView } from '../../core/machine/coordinator-view.js';
import type { QuotaTold } from '../api/decision.js';
import type { RefusalCount } from '../api/group-explanation.js';
import type { ShadowDirectionStatus } from '../api/node-status.js';
import type { GroupTable } from '../groups/group-table.js';
import type { GroupsInForce } from '../groups/groups-in-force.js';
import type { KeyBook } from '../groups/keys/key-book.js';
import type { GroupRegistry } from '../groups/registry/group-registry.js';
import type { YamlGroups } from '../groups/yaml/yaml-groups.js';
import type { BudgetLanes } from '../strict/budget-lanes.js';
import type { SlotLanes } from '../strict/slot-lanes.js';
import type { StrictLanes } from '../strict/strict-lanes.js';

/** Parts for a node's status; reading it changes nothing. */
export interface StatusParts extends ReadinessParts {
  readonly config: ResolvedConfig;
  readonly version: string;
  readonly startedMs: number;
  readonly clock: Clock;
  readonly telemetry: { readonly failures: number };
  readonly limiter: Limiter;
  readonly groups: GroupTable;
  readonly keys: Pick<KeyBook, 'counts' | 'shown' | 'shownVersion' | 'numberShown' | 'kindOf'> | null;
  readonly attachments: Attachments;
  readonly inForce: Pick<GroupsInForce, 'dividedBy'>;
  readonly yaml: Pick<YamlGroups, 'status' | 'degraded' | 'rules'>;
  readonly loop: ReadinessParts['loop'] & {
    readonly rounds: { readonly count: number; readonly totalMs: number };
    readonly rebalancing: { lastMs(nowMs: number): number };
  };
  readonly pump: ReadPump;
  readonly strict: Pick<StrictLanes, 'get' | 'all' | 'awaitedBy' | 'stateOf' | 'because'>;
  readonly slots: Pick<SlotLanes, 'get' | 'known' | 'all' | 'stateOf' | 'because' | 'becauseOfKeys'>;
  readonly budgets: Pick<BudgetLanes, 'get' | 'known' | 'all' | 'told' | 'stateOf' | 'because' | 'becauseOfKeys'>;
  readonly gate: {
    readonly refusals: ToldRefusals;
    told(lane: number): Pick<QuotaTold, 'remaining' | 'resetMs'>;
    readonly shadows: {
      readonly refusals: ToldRefusals;
      /** Differences of a lane's shadow (src/node/admission/shadow). */
      readonly counts: { of(lane: number): Pick<ShadowDirectionStatus, 'wouldRefuse' | 'wouldGrant'> };
      /** Callers' grants and refusals; the limiter lacks those of report-only groups. */
      readonly inForce: Readonly<Record<'admitted' | 'attempted' | 'refused' | 'refusedOnce', Figure>>;
    };
  };
  /** NOT_READY with the present reasons. */
  readonly notReady: () => QuotameshError;
}

interface ToldRefusals {
  /** Lists refusals, the newest first. */
  of(lane: number, nowMs: number): readonly RefusalCount[];
}

export interface ReadinessParts {
  readonly config: Pick<ResolvedConfig, 'start'>;
  readonly life: { readonly isClosing: boolean };
  /** Error of a node that has stopped deciding for good. */
  readonly loop: CoordinatorView & { readonly endedBy: QuotameshError | null };
  readonly topic: ReportTopic;
  readonly pump: Pick<ReadPump, 'lost'>;
  readonly registry: GroupRegistry | null;
}

interface ReadPump {
  /** Reason; null = the topic works. */
  readonly lost: string | null;
  readonly pendingAppends: number;
  /** Undecodable records, by cause. */
  readonly undecodable: Readonly<Record<string, number>>;
}
