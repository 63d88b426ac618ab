export type {
  AcquireOptions,
  Amounts,
  Batch,
  BatchAmounts,
  Decision,
  Granted,
  NotReady,
  Origin,
  Refund,
  Refused,
  Reservation,
  ReserveOptions,
  TakeOptions,
  WaitForOptions,
  WaitOptions,
  Where,
} from './api/decision.js';
export type { GroupExplanation } from './api/group-explanation.js';
export type { KeyStatus } from './api/key-status.js';
export type { NodeHttp } from './api/node-http.js';
export type { GroupStatus, NodeStatus } from './api/node-status.js';
export type {
  AttachedScope,
  ChangeOptions,
  DefinedGroup,
  Definition,
  DeleteOptions,
  ManyGroups,
  QuotaGroups,
  RegistryChange,
  SetManyOptions,
} from './api/quota-groups.js';
export type { DefinedKey, DefinedKeyTemplate, QuotaKeys, QuotaKeyTemplates } from './api/quota-keys.js';
export type { QuotaNode } from './api/quota-node.js';
export type { CostOptions, ReportedCost } from './api/reported-cost.js';
export type { ReportedHealth } from './api/reported-health.js';
export type { Scope } from './core/attachments/attachment.js';
export { ERROR_CATALOGUE, type ErrorCode } from './errors/catalogue.js';
export { QuotameshError } from './errors/quotamesh-error.js';
export { type CreateNodeOptions, createNode } from './library/create-node.js';
export { setNodeCount } from './node/parts-of.js';
export { VERSION } from './package/version.js';
export type { BusyGroup, BusyOnBackends, LogLevel, ShareDecision, Telemetry } from './ports/telemetry.js';
