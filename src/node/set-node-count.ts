import type { QuotaNode } from '../api/quota-node.js';
import { divideByNodeCount } from '../groups/node-count.js';
import { partsOf } from './parts-of.js';

/**
 * How many nodes share the quota, for a node with `topic: { kind: none }` (Numaflow: the pod count given from outside):
 * each takes target / nodeCount from now on, without dropping a token or a debt. A configuration that is read again
 * with another `topic.nodeCount` replaces it.
 *
 * Nobody agrees on it: raise it everywhere before a node comes, and lower it after one has gone; then no moment has
 * Σ shares above the quota. Throws NODE_COUNT_INVALID.
 */
export function setNodeCount(node: QuotaNode, nodeCount: number): void {
  divideByNodeCount(partsOf(node), nodeCount);
}
