export { ERROR_CATALOGUE, type ErrorCode } from './base/errors/catalogue.js';
export { QuotameshError } from './base/errors/quotamesh-error.js';
export { VERSION } from './base/package/version.js';
export type { BusyGroup, BusyOnBackends, LogLevel, ShareDecision, Telemetry } from './base/ports/telemetry.js';
export type { Scope } from './core/beside/attachments/attachment.js';
export { type CreateNodeOptions, createNode } from './doors/library/create-node.js';
export type { BudgetGift, BudgetGifts, Given } from './node/api/budget-gifts.js';
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
  RequestAmounts,
  Reservation,
  ReserveOptions,
  TakeOptions,
  WaitForOptions,
  WaitOptions,
  Where,
} from './node/api/decision.js';
export type { GroupExplanation } from './node/api/group-explanation.js';
export type { GroupStatus, KeyStatus, NodeStatus } from './node/api/node-status.js';
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
} from './node/api/quota-groups.js';
export type { DefinedKey, DefinedKeyTemplate, QuotaKeys, QuotaKeyTemplates } from './node/api/quota-keys.js';
export type {
  BudgetSpent,
  CostOptions,
  NodeHttp,
  QuotaNode,
  ReportedCost,
  ReportedHealth,
} from './node/api/quota-node.js';
export type { Entered, EnterOptions, NoSlot, Slot, SlotEnd, SlotState, SlotsTold } from './node/api/slot.js';
export { setNodeCount } from './node/loop/parts-of.js';
