import { QuotameshError } from '../../errors/quotamesh-error.js';
import type { QuotaNode } from '../../node/quota-node.js';
import type { GroupRegistry } from '../registry/group-registry.js';

export function registryOf({ registry }: QuotaNode): GroupRegistry {
  if (registry === null) throw new QuotameshError('REGISTRY_OFF');
  return registry;
}

/** What somebody who changes a group has read of it: its revision; null = nothing is expected. */
export type Expected = number | null;
