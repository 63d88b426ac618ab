import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { ResolvedConfig } from '../../../config/resolved/resolved-config.js';
import type { Attachments } from '../../../core/beside/attachments/attachments.js';
import type { CoordinatorView } from '../../../core/machine/coordinator-view.js';
import type { GroupTable } from '../group-table.js';
import type { KeyTemplates } from '../keys/key-templates.js';
import type { GroupRegistry } from '../registry/group-registry.js';
import type { YamlGroups } from '../yaml/yaml-groups.js';

/** What it takes to change groups and attachments at run time, and to say before what a change would do. */
export interface ChangeParts {
  readonly config: Pick<ResolvedConfig, 'costs' | 'registry' | 'source' | 'topic'>;
  readonly groups: GroupTable;
  readonly yaml: YamlGroups;
  /** Null where it is switched off. */
  readonly registry: GroupRegistry | null;
  readonly attachments: Attachments;
  readonly templates: KeyTemplates;
  /** Null where there are none. */
  readonly keys: { isKey(name: string): boolean } | null;
  readonly gate: {
    /** Throws GROUP_UNKNOWN naming the near ones. */
    unknownGroup(group: string): never;
  };
  readonly loop: CoordinatorView;
}

/** Throws REGISTRY_OFF. */
export function registryOf({ registry }: { readonly registry: GroupRegistry | null }): GroupRegistry {
  if (registry === null) throw new QuotameshError('REGISTRY_OFF');
  return registry;
}

/** The revision that a caller has read and expects; null = it expects none. */
export type Expected = number | null;
