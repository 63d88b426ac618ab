import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { ResolvedConfig } from '../../../config/resolved/resolved-config.js';
import type { Attachments } from '../../../core/beside/attachments/attachments.js';
import type { CoordinatorView } from '../../../core/machine/coordinator-view.js';
import type { GroupTable } from '../group-table.js';
import type { KeyTemplates } from '../keys/key-templates.js';
import type { GroupRegistry } from '../registry/group-registry.js';
import type { YamlGroups } from '../yaml/yaml-groups.js';
import type { StrictQuotas } from './change-in-force.js';

/** Parts that change groups and attachments at run time, and preview changes. */
export interface ChangeParts {
  readonly config: Pick<ResolvedConfig, 'costs' | 'limits' | 'registry' | 'source' | 'topic'>;
  readonly groups: GroupTable;
  readonly yaml: YamlGroups;
  readonly registry: GroupRegistry | null;
  readonly attachments: Attachments;
  readonly templates: KeyTemplates;
  readonly keys: { isKey(name: string): boolean } | null;
  readonly gate: { unknownGroup(group: string): never };
  readonly loop: CoordinatorView;
  readonly strict: StrictQuotas;
}

/** Returns the registry. Throws REGISTRY_OFF. */
export function registryOf({ registry }: { readonly registry: GroupRegistry | null }): GroupRegistry {
  if (registry === null) throw new QuotameshError('REGISTRY_OFF');
  return registry;
}

/** Revision that a caller expects; null = any. */
export type Expected = number | null;
