import { NEVER } from '../../../core/beside/registry/group-history.js';
import type { GroupStatus, RegistryStatus } from '../../api/node-status.js';
import type { GroupRegistry } from './group-registry.js';

interface RegistryHolder {
  /** Null where it is switched off. */
  readonly registry: GroupRegistry | null;
}

export function describeRegistry({ registry }: RegistryHolder): RegistryStatus {
  return {
    enabled: registry !== null,
    ready: registry?.isReady ?? true,
    lost: registry?.lost ?? null,
    epoch: registry?.epoch.name ?? null,
    epochChanges: registry?.epoch.changes ?? 0,
    offset: registry?.offset ?? 0,
    groups: registry === null ? 0 : [...registry.names()].length,
    refused: [...(registry?.refused.keys() ?? [])],
    recordsIgnored: registry?.ignored ?? 0,
  };
}

/** Returns a group's origin, and the revision for If-Match. */
export function originOf({ registry }: RegistryHolder, group: string): Pick<GroupStatus, 'origin' | 'revision'> {
  const { revision, definition } = registry?.stateOf(group) ?? NEVER;
  return definition === null ? { origin: 'yaml', revision: 0 } : { origin: 'run-time', revision };
}
