import type { KeyStatus } from './node-status.js';
import type { ChangeOptions, Defined, Definition } from './quota-groups.js';

/**
 * Shows and changes keys of the cluster at run time: `node.keys`. A change is in force at this node when its promise
 * resolves, elsewhere once the others have read it; keys follow at their next use. `node.groups.watch` reports all
 * changes. Every change may reject with REGISTRY_OFF, NOT_READY, FIELD_INVALID and CHANGE_UNCONFIRMED.
 */
export interface QuotaKeys {
  /**
   * Shows what this node knows of a key; makes none, takes nothing. Throws KEY_UNKNOWN where no template has such
   * names.
   */
  show(key: string): KeyStatus;
  /** Lists at most 20 loud keys: those with most of their quota wanted here. */
  busiest(): Promise<KeyStatus[]>;
  /** Returns a key's own settings, here or in the configuration. Throws KEY_DEFINITION_UNKNOWN. */
  get(key: string): DefinedKey;
  /** Lists all keys with own settings of run time, by name. */
  list(): DefinedKey[];
  /**
   * Gives a key settings over its template's. Rejects with KEY_DEFINITION_INVALID, KEY_DEFINITION_CHANGED,
   * GROUPS_FULL.
   */
  set(key: string, definition: Definition, options?: ChangeOptions): Promise<DefinedKey>;
  /** Changes some settings; null takes one away (RFC 7396). Rejects with what `set` does. */
  patch(key: string, patch: Definition, options?: ChangeOptions): Promise<DefinedKey>;
  /**
   * Deletes a definition of run time. Rejects with KEY_DEFINITION_UNKNOWN, FROM_YAML,
   * KEY_DEFINITION_CHANGED.
   */
  delete(key: string, options?: ChangeOptions): Promise<void>;
  /** Templates that make keys. */
  readonly templates: QuotaKeyTemplates;
}

/** Changes templates by their patterns: one change for all keys of one. */
export interface QuotaKeyTemplates {
  get(pattern: string): DefinedKeyTemplate;
  list(): DefinedKeyTemplate[];
  set(pattern: string, definition: Definition, options?: ChangeOptions): Promise<DefinedKeyTemplate>;
  patch(pattern: string, patch: Definition, options?: ChangeOptions): Promise<DefinedKeyTemplate>;
  delete(pattern: string, options?: ChangeOptions): Promise<void>;
}

export interface DefinedKey extends Defined {
  readonly key: string;
  /** Settings as below `overrides.<key>` in YAML. */
  readonly definition: Definition;
}

export interface DefinedKeyTemplate extends Defined {
  readonly pattern: string;
  /** Settings as below `keys.<pattern>` in YAML. */
  readonly definition: Definition;
}
