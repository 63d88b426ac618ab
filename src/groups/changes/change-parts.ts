import type { ResolvedConfig } from '../../config/resolved/resolved-config.js';
import type { Attachments } from '../../core/attachments/attachments.js';
import type { CoordinatorView } from '../../core/coordinator/coordinator-view.js';
import type { GroupTable } from '../group-table.js';
import type { GroupRegistry } from '../registry/group-registry.js';
import type { YamlGroups } from '../yaml/yaml-groups.js';

/** What it takes to change groups and attachments at run time, and to say before what a change would do. */
export interface ChangeParts {
  readonly config: Pick<ResolvedConfig, 'costs' | 'registry' | 'source'>;
  readonly groups: GroupTable;
  readonly yaml: YamlGroups;
  /** Null where it is switched off. */
  readonly registry: GroupRegistry | null;
  readonly attachments: Attachments;
  readonly gate: {
    /** Throws GROUP_UNKNOWN naming the near ones. */
    unknownGroup(group: string): never;
  };
  readonly loop: CoordinatorView;
}
