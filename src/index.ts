export type {
  AcquireOptions,
  Amounts,
  Batch,
  BatchAmounts,
  Decision,
  Granted,
  HandBack,
  NotReady,
  Origin,
  Refused,
  Reservation,
  ReserveOptions,
  TakeOptions,
  WaitOptions,
  Where,
} from './admission/decision.js';
export type { Place } from './core/attachments/attachment.js';
export { ERROR_CATALOGUE, type ErrorCode, QuotameshError } from './errors.js';
export type { LogLevel, ShareDecision, Telemetry } from './ports/telemetry.js';
export { type CreateNodeOptions, createNode } from './runtime/create-node.js';
export { setNodeCount } from './runtime/groups/node-count.js';
export type { QuotaNode } from './runtime/quota-node.js';
export type { GroupStatus, NodeStatus } from './runtime/status.js';
export type { GroupExplanation } from './runtime/target/explain.js';
export type { ReportedHealth } from './runtime/target/report-backend.js';
export type { CostOptions, ReportedCost } from './runtime/target/report-cost.js';
export { VERSION } from './version.js';
