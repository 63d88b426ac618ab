import type { LateGroup } from './batched-changes.js';
import type { GroupState } from './group-history.js';
import type { AuditRecord, BatchEntry, ChangedBy, GroupDefinition, RegistryRecord } from './registry-record.js';

export interface RegistrySettings {
  readonly nodeId: string;
  /** Hash of the cluster's name. */
  readonly cluster: number;
  /** Given by the runtime; every start of the node has another one. */
  readonly lifeId: string;
  /** This node finishes what others have left behind for this long; local time. */
  readonly adoptAfterMs: number;
  /** Changes that the trail keeps. */
  readonly auditedChanges: number;
}

/** Everything that can happen to a registry. */
export type RegistryEvent =
  /** Another log is read from now on, from its start. The event of the first log comes before all other events. */
  | { readonly kind: 'epoch-began'; readonly epoch: string }
  | { readonly kind: 'records-read'; readonly records: readonly ReadRegistryRecord[] }
  /** All that was in the topic at the start has been given. */
  | { readonly kind: 'caught-up' }
  /** Somebody at this node wants a change; the answer is a decision with the same id, if one comes. */
  | {
      readonly kind: 'proposed';
      readonly id: string;
      readonly group: string;
      readonly expected: number | null;
      readonly definition: GroupDefinition | null;
      /** A deletion takes everything with it that is attached to the group. */
      readonly detaching?: boolean;
      readonly by: ChangedBy | null;
    }
  /** The same for many groups, all or none; the answer is a batch decision with the same id. */
  | {
      readonly kind: 'batch-proposed';
      readonly id: string;
      readonly entries: readonly BatchEntry[];
      readonly by: ChangedBy | null;
    }
  /** What became of an append. Failed: it may be in the log or not. */
  | { readonly kind: 'appended' | 'append-failed'; readonly ticket: number }
  /** Once a second: retries, and what others have left behind. */
  | { readonly kind: 'tick' };

export interface ReadRegistryRecord {
  readonly offset: number;
  readonly appendMs: number;
  readonly key: string;
  /** null for a tombstone. */
  readonly record: RegistryRecord | Unreadable | null;
  /** The record counts, but its signature will expire soon, so its group's state is written again. */
  readonly isToRenew?: true;
}

/** A record that is not ours. It is told so that nothing seems to be missing at its offset. */
export interface Unreadable {
  readonly kind: 'unreadable';
}

/** In this order, in one append; the runtime answers with the ticket. */
export interface RegistryAppend {
  readonly ticket: number;
  readonly records: readonly { readonly key: string; readonly record: RegistryRecord | null }[];
}

/** What became of a proposal of this node. */
export interface ChangeDecision {
  readonly id: string;
  readonly group: string;
  readonly accepted: boolean;
  /** Its record in the trail; null if it was rejected. */
  readonly change: AuditRecord | null;
  /** What was detached with the group. */
  readonly detached: readonly AuditRecord[];
  /** The group after the change, or the state that stood in its way. */
  readonly state: GroupState;
}

/** What became of a batch of this node. */
export interface BatchDecision {
  readonly id: string;
  readonly accepted: boolean;
  /** The revision of all groups of an accepted batch. */
  readonly revision: number;
  /** Records of the trail; empty if it was rejected. */
  readonly changes: readonly AuditRecord[];
  /** Groups that were not as expected; empty = the log lacks a part of the batch. */
  readonly late: readonly LateGroup[];
}

/** What the runtime has to do now; new with every step. */
export interface RegistryEffects {
  readonly appends: RegistryAppend[];
  /** Groups whose state is another now: read it from the registry. */
  readonly changed: Set<string>;
  readonly decisions: ChangeDecision[];
  readonly batchDecisions: BatchDecision[];
}

export function createRegistryEffects(): RegistryEffects {
  return { appends: [], changed: new Set(), decisions: [], batchDecisions: [] };
}
