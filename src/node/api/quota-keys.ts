import type { KeyStatus } from './key-status.js';
import type { ChangeOptions, Definition } from './quota-groups.js';

/**
 * Keys of the cluster, looked at and changed at run time from inside a node: `node.keys`. A change is in force at this
 * node when its promise resolves, and everywhere once the others have read it; keys follow when they are used next.
 * `node.groups.watch` tells of all changes. Every change may reject with REGISTRY_OFF, NOT_READY, FIELD_INVALID and
 * CHANGE_UNCONFIRMED.
 */
export interface QuotaKeys {
  /**
   * What this node knows of a key, whether it uses it or not; looking makes none, and takes nothing. Throws KEY_UNKNOWN
   * where no template has such names.
   */
  show(key: string): KeyStatus;
  /** The keys that speak at this node and of which most of the quota is wanted there, at most 20. */
  busiest(): Promise<KeyStatus[]>;
  /** The settings that a single key has of its own, here or in the configuration. Throws KEY_DEFINITION_UNKNOWN. */
  get(key: string): DefinedKey;
  /** All keys that run time has given settings of their own, in the order of their names. */
  list(): DefinedKey[];
  /**
   * Gives a key settings of its own, over those of its template; rejects with KEY_DEFINITION_INVALID,
   * KEY_DEFINITION_CHANGED, KEY_DEFINITIONS_FULL.
   */
  set(key: string, definition: Definition, options?: ChangeOptions): Promise<DefinedKey>;
  /** Changes some of them, null takes one away (RFC 7396); rejects with what `set` does. */
  patch(key: string, patch: Definition, options?: ChangeOptions): Promise<DefinedKey>;
  /**
   * Deletes what was defined at run time; rejects with KEY_DEFINITION_UNKNOWN, KEY_DEFINITION_FROM_YAML,
   * KEY_DEFINITION_CHANGED.
   */
  delete(key: string, options?: ChangeOptions): Promise<void>;
  /** The templates that make keys. */
  readonly templates: QuotaKeyTemplates;
}

/** The same for templates, by their patterns: one change for all keys of one. */
export interface QuotaKeyTemplates {
  get(pattern: string): DefinedKeyTemplate;
  /** All templates in force, in the order of their patterns. */
  list(): DefinedKeyTemplate[];
  set(pattern: string, definition: Definition, options?: ChangeOptions): Promise<DefinedKeyTemplate>;
  patch(pattern: string, patch: Definition, options?: ChangeOptions): Promise<DefinedKeyTemplate>;
  delete(pattern: string, options?: ChangeOptions): Promise<void>;
}

export interface DefinedKey {
  readonly key: string;
  readonly origin: 'yaml' | 'run-time';
  /** 0 = as the configuration has it. */
  readonly revision: number;
  /** What stands below `overrides.<key>` in YAML. */
  readonly definition: Definition;
}

export interface DefinedKeyTemplate {
  readonly pattern: string;
  readonly origin: 'yaml' | 'run-time';
  /** 0 = as the configuration has it. */
  readonly revision: number;
  /** What stands below `keys.<pattern>` in YAML. */
  readonly definition: Definition;
}
