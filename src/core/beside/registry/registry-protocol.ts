import type { LateGroup } from './batched-changes.js';
import type { GroupState } from './group-history.js';
import type { AuditRecord, BatchEntry, ChangedBy, GroupDefinition, RegistryRecord } from './registry-record.js';

export interface RegistrySettings {
  readonly nodeId: string;
  /** Hash of the cluster's name. */
  readonly cluster: number;
  /** Id of this start of the node. */
  readonly lifeId: string;
  /** Local milliseconds after which other nodes' leftovers are finished here. */
  readonly adoptAfterMs: number;
  /** Number of changes that the trail keeps. */
  readonly auditedChanges: number;
}

export type RegistryEvent =
  /** Begins another log, from its start; the first event of all. */
  | { readonly kind: 'epoch-began'; readonly epoch: string }
  | { readonly kind: 'records-read'; readonly records: readonly ReadRegistryRecord[] }
  /** Comes when all records of the start have been given. */
  | { readonly kind: 'caught-up' }
  /** Requests a change. Its decision, if one comes, has the same id. */
  | {
      readonly kind: 'proposed';
      readonly id: string;
      readonly group: string;
      readonly expected: number | null;
      readonly definition: GroupDefinition | null;
      /** True = a deletion takes all attachments of the group along. */
      readonly detaching?: boolean;
      readonly by: ChangedBy | null;
    }
  /** Requests changes of many groups, all or none; its batch decision has the same id. */
  | {
      readonly kind: 'batch-proposed';
      readonly id: string;
      readonly entries: readonly BatchEntry[];
      readonly by: ChangedBy | null;
    }
  /** Ends an append; the log may have a failed one. */
  | { readonly kind: 'appended' | 'append-failed'; readonly ticket: number }
  /** Ticks once a second, for retries and leftovers. */
  | { readonly kind: 'tick' };

export interface ReadRegistryRecord {
  readonly offset: number;
  readonly appendMs: number;
  readonly key: string;
  /** Null = a tombstone. */
  readonly record: RegistryRecord | Unreadable | null;
  /** True = its signature expires soon: its group's state is written again. */
  readonly isToRenew?: true;
}

/** Foreign record, passed on so that no offset seems missing. */
export interface Unreadable {
  readonly kind: 'unreadable';
}

/** Records of one append, in order; the ticket comes back. */
export interface RegistryAppend {
  readonly ticket: number;
  readonly records: readonly { readonly key: string; readonly record: RegistryRecord | null }[];
}

/** Outcome of an own proposal. */
export interface ChangeDecision {
  readonly id: string;
  readonly group: string;
  readonly accepted: boolean;
  /** Record in the trail; null = rejected. */
  readonly change: AuditRecord | null;
  /** Changes of the entries that were detached with the group. */
  readonly detached: readonly AuditRecord[];
  /** Group after the change, or the state that prevented it. */
  readonly state: GroupState;
}

export interface BatchDecision {
  readonly id: string;
  readonly accepted: boolean;
  /** Revision of all groups of an accepted batch. */
  readonly revision: number;
  /** Records of the trail; none = rejected. */
  readonly changes: readonly AuditRecord[];
  /** Groups with other revisions; none = a part is missing. */
  readonly late: readonly LateGroup[];
}

/** Effects for the node, new with every step. */
export interface RegistryEffects {
  readonly appends: RegistryAppend[];
  /** Groups whose state in the registry has changed. */
  readonly changed: Set<string>;
  readonly decisions: ChangeDecision[];
  readonly batchDecisions: BatchDecision[];
}

export function createRegistryEffects(): RegistryEffects {
  return { appends: [], changed: new Set(), decisions: [], batchDecisions: [] };
}
