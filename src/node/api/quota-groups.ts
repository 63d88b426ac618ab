/**
 * Groups and attachments of the cluster, changed at run time from inside a node: `node.groups`. A change is in force at
 * this node when its promise resolves, and everywhere once the others have read it. Every call may throw REGISTRY_OFF,
 * NOT_READY and FIELD_INVALID, every change may reject with CHANGE_UNCONFIRMED.
 */
export interface QuotaGroups {
  /** Makes a group, or replaces all of it; rejects with GROUP_INVALID, GROUP_KEY_UNKNOWN, GROUP_CHANGED, GROUPS_FULL. */
  set(group: string, definition: Definition, options?: ChangeOptions): Promise<DefinedGroup>;
  /**
   * As `set` for 1 to 10,000 groups, all or none, at one offset of the log; rejects with GROUPS_INVALID and
   * GROUPS_CHANGED, whose `errors` name the groups that were refused.
   */
  setMany(definitions: Readonly<Record<string, Definition>>, options?: SetManyOptions): Promise<ManyGroups>;
  /** Changes single keys, null takes a key away (RFC 7396); rejects with GROUP_UNKNOWN and what `set` does. */
  patch(group: string, patch: Definition, options?: ChangeOptions): Promise<DefinedGroup>;
  /**
   * Deletes what was defined at run time; the group of the configuration, if there is one, is in force again. Rejects
   * with GROUP_UNKNOWN, GROUP_FROM_YAML, GROUP_CHANGED, GROUP_IN_USE.
   */
  delete(group: string, options?: DeleteOptions): Promise<void>;
  /** Throws GROUP_UNKNOWN. */
  get(group: string): DefinedGroup;
  /** All groups, in the order of their names. */
  list(): DefinedGroup[];

  /**
   * Attaches a tenant, `tenant/namespace` or `tenant/namespace/topic`, or replaces what it is attached to; rejects with
   * ATTACHMENT_INVALID, ATTACHMENT_DANGLING, ATTACHMENT_CYCLIC, ATTACHMENT_CHANGED, ATTACHMENTS_FULL.
   */
  attach(scope: string, attachment: Definition, options?: ChangeOptions): Promise<AttachedScope>;
  /** Rejects with ATTACHMENT_UNKNOWN, ATTACHMENT_FROM_YAML, ATTACHMENT_IN_USE, ATTACHMENT_CHANGED. */
  detach(scope: string, options?: ChangeOptions): Promise<void>;
  /** All attachments, in the order of their scopes. */
  attachments(): AttachedScope[];

  /**
   * Calls `listener` for every change of run time, of any node, when it is in force here; what was there before the call
   * is not told. Returns a function that ends it.
   */
  watch(listener: (change: RegistryChange) => void): () => void;
}

/** The keys that stand below `groups.<name>`, or below `attachments.scopes.<scope>`, in YAML. */
export type Definition = Readonly<Record<string, unknown>>;

export interface ChangeOptions {
  /** Only if it has this revision; 'none' = only if it is new. Otherwise GROUP_CHANGED or ATTACHMENT_CHANGED. */
  readonly ifRevision?: number | 'none' | undefined;
  /** Who asks for it, for the audit trail; default `library`. */
  readonly by?: string | undefined;
}

export interface SetManyOptions extends Omit<ChangeOptions, 'ifRevision'> {
  /** For all of the groups, or by name; groups that it does not name may have any. */
  readonly ifRevision?: number | 'none' | Readonly<Record<string, number | 'none'>> | undefined;
}

export interface ManyGroups {
  /** All of them have it. */
  readonly revision: number;
  readonly groups: readonly { readonly group: string; readonly isNew: boolean }[];
}

export interface DeleteOptions extends ChangeOptions {
  /** True detaches the scopes that are attached to the group. */
  readonly force?: boolean | undefined;
}

export interface DefinedGroup {
  readonly group: string;
  readonly origin: 'yaml' | 'run-time';
  /** 0 = as the configuration has it. */
  readonly revision: number;
  readonly definition: Definition;
}

export interface AttachedScope {
  readonly scope: string;
  readonly origin: 'yaml' | 'run-time';
  /** 0 = as the configuration has it. */
  readonly revision: number;
  readonly attachment: Definition;
}

export interface RegistryChange {
  readonly kind: 'group' | 'attachment' | 'key-template' | 'key';
  /** The name of the group or key, the path of the scope, or the pattern of the template. */
  readonly name: string;
  readonly revision: number;
  /** What is defined at run time; null = nothing any more. */
  readonly definition: Definition | null;
}
