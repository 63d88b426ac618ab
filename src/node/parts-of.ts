import type { QuotaNode } from '../api/quota-node.js';
import { QuotameshError } from '../errors/quotamesh-error.js';
import type { NodeParts } from './node-parts.js';

const partsByNode = new WeakMap<QuotaNode, NodeParts>();

/** Finds the parts of a node, for functions of the library that need more than its public face shows. */
export function partsOf(node: QuotaNode): NodeParts {
  const parts = partsByNode.get(node);
  if (parts !== undefined) return parts;
  throw new QuotameshError('OPTIONS_INVALID', { field: 'node', reason: 'must be a node that createNode has made' });
}

export function keepParts(node: QuotaNode, parts: NodeParts): void {
  partsByNode.set(node, parts);
}
