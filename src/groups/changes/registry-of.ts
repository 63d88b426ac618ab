import { QuotameshError } from '../../errors/quotamesh-error.js';
import type { GroupRegistry } from '../registry/group-registry.js';

/** Throws REGISTRY_OFF. */
export function registryOf({ registry }: { readonly registry: GroupRegistry | null }): GroupRegistry {
  if (registry === null) throw new QuotameshError('REGISTRY_OFF');
  return registry;
}

/** The revision that a caller has read and expects; null = it expects none. */
export type Expected = number | null;
