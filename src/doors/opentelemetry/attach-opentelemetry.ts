import type { QuotaNode } from '../../node/api/quota-node.js';
import { partsOf } from '../../node/loop/parts-of.js';
import { type Attached, attachTo } from './attach-to.js';

export type { Attached };

/**
 * Tells the OpenTelemetry SDK of this process what a node does: its metrics as instruments, refusals and waits on the
 * spans of the callers (docs/guide/opentelemetry.md). To be called after the SDK has been registered; without one
 * nothing is attached. A node that closes ends it by itself.
 *
 * Throws OPENTELEMETRY_TOO_OLD, and OPTIONS_INVALID unless createNode has made the node.
 */
export function attachOpenTelemetry(node: QuotaNode): Attached {
  return attachTo({ node: partsOf(node) });
}
