import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { QuotaNode } from '../api/quota-node.js';
import { divideByNodeCount } from '../groups/node-count.js';
import type { NodeParts } from './node-parts.js';

const partsByNode = new WeakMap<QuotaNode, NodeParts>();

/** Finds a node's parts, for library functions beyond its public face. */
export function partsOf(node: QuotaNode): NodeParts {
  const parts = partsByNode.get(node);
  if (parts !== undefined) return parts;
  throw new QuotameshError('OPTIONS_INVALID', { field: 'node', reason: 'must be a node that createNode has made' });
}

export function keepParts(node: QuotaNode, parts: NodeParts): void {
  partsByNode.set(node, parts);
}

/**
 * Sets the number of nodes for `topic: { kind: none }` (Numaflow: the pod count): each takes target / nodeCount. Tokens
 * and debts stay; a reloaded `topic.nodeCount` replaces it. Nobody agrees on it: raise it everywhere before a node
 * comes, lower it after one has gone, and no moment has Σ shares above the quota. Throws NODE_COUNT_INVALID.
 */
export function setNodeCount(node: QuotaNode, nodeCount: number): void {
  divideByNodeCount(partsOf(node), nodeCount);
}
