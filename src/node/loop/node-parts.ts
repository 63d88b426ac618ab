import type { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Clock } from '../../base/ports/clock.js';
import type { ReportTopic } from '../../base/ports/report-topic.js';
import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { Attachments } from '../../core/beside/attachments/attachments.js';
import type { Limiter } from '../../core/limiter/limiter.js';
import type { Gate } from '../admission/gate.js';
import type { BackendPoller } from '../backends/backend-poller.js';
import type { Enforcers } from '../enforcers/enforcers.js';
import type { GroupTable } from '../groups/group-table.js';
import type { GroupsInForce } from '../groups/groups-in-force.js';
import type { KeyBook } from '../groups/keys/key-book.js';
import type { KeyTemplates } from '../groups/keys/key-templates.js';
import type { GroupRegistry } from '../groups/registry/group-registry.js';
import type { YamlGroups } from '../groups/yaml/yaml-groups.js';
import type { BusyWatch } from '../status/busy-watch.js';
import type { BudgetLanes } from '../strict/budget-lanes.js';
import type { SlotLanes } from '../strict/slot-lanes.js';
import type { StrictLanes } from '../strict/strict-lanes.js';
import type { GuardedTelemetry } from './guarded-telemetry.js';
import type { NodeLife } from './node-life.js';
import type { NodeLoop } from './node-loop.js';
import type { TopicPump } from './topic-pump.js';

/** Parts of one node, for HTTP, MQTT, metrics, commands and tests. No part knows this type; embedders never see it. */
export interface NodeParts {
  readonly config: ResolvedConfig;
  readonly version: string;
  readonly startedMs: number;
  readonly clock: Clock;
  readonly telemetry: GuardedTelemetry;
  readonly topic: ReportTopic;
  readonly pump: TopicPump;
  readonly limiter: Limiter;
  readonly groups: GroupTable;
  /** Null without a topic. */
  readonly keys: KeyBook | null;
  readonly templates: KeyTemplates;
  readonly attachments: Attachments;
  readonly inForce: GroupsInForce;
  readonly yaml: YamlGroups;
  /** Null = switched off. */
  readonly registry: GroupRegistry | null;
  readonly gate: Gate;
  readonly strict: StrictLanes;
  readonly slots: SlotLanes;
  readonly budgets: BudgetLanes;
  readonly enforcers: Enforcers;
  readonly poller: BackendPoller;
  readonly busy: BusyWatch;
  readonly loop: NodeLoop;
  readonly life: NodeLife;
  readonly notReady: () => QuotameshError;
}
