import type { Fenced } from '../core/coordinator-protocol.js';
import { QuotameshError } from '../errors.js';

/** Why a node has stopped deciding for good, as people and exit codes know it. */
export function fencedError(node: string, why: Fenced): QuotameshError {
  if (why.kind === 'fenced') {
    return new QuotameshError('NODE_FENCED', { node, newer: why.newerIncarnation, own: why.ownIncarnation });
  }
  return new QuotameshError('PARTITIONS_DIFFER', { node, member: why.nodeId, founded: why.founded, own: why.own });
}
