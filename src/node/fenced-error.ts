import type { Fenced } from '../core/protocol/events-and-effects.js';
import { QuotameshError } from '../errors/quotamesh-error.js';

/** The error, with its exit code, for a node that has stopped deciding for good. */
export function fencedError(node: string, why: Fenced): QuotameshError {
  if (why.kind === 'fenced') {
    return new QuotameshError('NODE_FENCED', { node, newer: why.newerIncarnation, own: why.ownIncarnation });
  }
  return new QuotameshError('PARTITIONS_DIFFER', { node, member: why.nodeId, founded: why.founded, own: why.own });
}
