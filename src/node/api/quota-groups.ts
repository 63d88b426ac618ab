import { type AnswerOf, count, listOf, record, text, WRITTEN, yes } from './answer-table.js';
import { ORIGIN, REVISION } from './node-status.js';

/**
 * Changes groups and attachments of the cluster at run time: `node.groups`. A change is in force at this node when its
 * promise resolves, elsewhere once the others have read it. Every call may throw REGISTRY_OFF, NOT_READY and
 * FIELD_INVALID; every change may reject with CHANGE_UNCONFIRMED.
 */
export interface QuotaGroups {
  /**
   * Makes a group, or replaces all of it. Rejects with GROUP_INVALID, GROUP_KEY_UNKNOWN, GROUP_CHANGED, GROUPS_FULL.
   */
  set(group: string, definition: Definition, options?: ChangeOptions): Promise<DefinedGroup>;
  /**
   * Sets 1 to 10,000 groups, all or none: at one offset of the log. Rejects with GROUPS_INVALID and GROUPS_CHANGED,
   * whose `errors` name the refused groups.
   */
  setMany(definitions: Readonly<Record<string, Definition>>, options?: SetManyOptions): Promise<ManyGroups>;
  /** Changes single keys; null takes one away (RFC 7396). Rejects with GROUP_UNKNOWN and what `set` does. */
  patch(group: string, patch: Definition, options?: ChangeOptions): Promise<DefinedGroup>;
  /**
   * Deletes a definition of run time; the configuration's group, if any, is in force again. Rejects with GROUP_UNKNOWN,
   * FROM_YAML, GROUP_CHANGED, GROUP_IN_USE.
   */
  delete(group: string, options?: DeleteOptions): Promise<void>;
  get(group: string): DefinedGroup;
  /** Lists all groups by name. */
  list(): DefinedGroup[];

  /**
   * Attaches a tenant, `tenant/namespace` or `tenant/namespace/topic`, or replaces its attachment. Rejects with
   * ATTACHMENT_INVALID, ATTACHMENT_DANGLING, ATTACHMENT_CYCLIC, ATTACHMENT_CHANGED, ATTACHMENTS_FULL.
   */
  attach(scope: string, attachment: Definition, options?: ChangeOptions): Promise<AttachedScope>;
  /**
   * Takes an attachment away. Rejects with ATTACHMENT_UNKNOWN, FROM_YAML, ATTACHMENT_IN_USE,
   * ATTACHMENT_CHANGED.
   */
  detach(scope: string, options?: ChangeOptions): Promise<void>;
  /** Lists all attachments by scope. */
  attachments(): AttachedScope[];

  /** Calls `listener` for each later change of any node, in force here. Returns a function that ends it. */
  watch(listener: (change: RegistryChange) => void): () => void;
}

/** Keys as below `groups.<name>`, or below `attachments.scopes.<scope>`, in YAML. */
export type Definition = Readonly<Record<string, unknown>>;

export interface ChangeOptions {
  /** Revision that it must have; 'none' = it must be new. Otherwise GROUP_CHANGED or ATTACHMENT_CHANGED. */
  readonly ifRevision?: number | 'none' | undefined;
  /** Author for the audit trail; default `library`. */
  readonly by?: string | undefined;
}

export interface SetManyOptions extends Omit<ChangeOptions, 'ifRevision'> {
  /** Revision of all, or by name; unnamed groups may have any. */
  readonly ifRevision?: number | 'none' | Readonly<Record<string, number | 'none'>> | undefined;
}

export const MADE_GROUP = { group: text, isNew: yes };
export const MANY_GROUPS = {
  /** Revision of all of them. */
  revision: count,
  groups: listOf(record(MADE_GROUP)),
};
export interface ManyGroups extends AnswerOf<typeof MANY_GROUPS> {}

export interface DeleteOptions extends ChangeOptions {
  /** True = scopes attached to the group are detached. */
  readonly force?: boolean | undefined;
}

export const IN_FORCE = {
  origin: ORIGIN,
  /** 0 = as the configuration has it. */
  revision: REVISION,
};
/** Source of what is in force. */
export interface Defined extends AnswerOf<typeof IN_FORCE> {}

export const DEFINED_GROUP = { group: text, ...IN_FORCE, definition: WRITTEN };
export interface DefinedGroup extends AnswerOf<typeof DEFINED_GROUP> {}

export interface AttachedScope extends Defined {
  readonly scope: string;
  readonly attachment: Definition;
}

export interface RegistryChange {
  readonly kind: 'group' | 'attachment' | 'key-template' | 'key';
  /** Name of the group or key; path of the scope; the template's pattern. */
  readonly name: string;
  readonly revision: number;
  readonly definition: Definition | null;
}
