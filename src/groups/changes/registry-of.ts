import { QuotameshError } from '../../errors/quotamesh-error.js';
import type { GroupRegistry } from '../registry/group-registry.js';

/** Throws REGISTRY_OFF. */
export function registryOf({ registry }: { readonly registry: GroupRegistry | null }): GroupRegistry {
  if (registry === null) throw new QuotameshError('REGISTRY_OFF');
  return registry;
}

/** What somebody who changes a group has read of it: its revision; null = nothing is expected. */
export type Expected = number | null;
