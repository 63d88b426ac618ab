import { QuotameshError } from '../errors/quotamesh-error.js';
import { show } from '../input/shown-value.js';
import type { QuotaNode } from '../node/quota-node.js';
import { defineGroup } from './groups-in-force.js';

/**
 * How many nodes share the quota, for a node with `topic: { kind: none }` (Numaflow: the pod count given from outside):
 * each takes target / nodeCount from now on, without dropping a token or a debt. A configuration that is read again
 * with another `topic.nodeCount` replaces it.
 *
 * Nobody agrees on it: raise it everywhere before a node comes, and lower it after one has gone; then no moment has
 * Σ shares above the quota. Throws NODE_COUNT_INVALID.
 */
export function setNodeCount(node: QuotaNode, nodeCount: number): void {
  if (node.config.topic.kind !== 'none') {
    throw new QuotameshError('NODE_COUNT_INVALID', {
      reason: `nodes of topic kind ${node.config.topic.kind} count each other`,
    });
  }
  if (!Number.isSafeInteger(nodeCount) || nodeCount < 1 || nodeCount > NODE_COUNT_MAX) {
    const reason = `it must be a whole number from 1 to ${NODE_COUNT_MAX}, got ${show(nodeCount)}`;
    throw new QuotameshError('NODE_COUNT_INVALID', { reason });
  }
  for (const group of [...node.groups.numbers.values()]) defineGroup(node, { ...node.groups.at(group), nodeCount });
}

/** As in the settings table, `topic.nodeCount`. */
const NODE_COUNT_MAX = 10_000;
