import type { QuotaNode } from '../../node/api/quota-node.js';
import { partsOf } from '../../node/loop/parts-of.js';
import { type Attached, attachTo } from './attach-to.js';

export type { Attached };

/**
 * Attaches a node to this process's OpenTelemetry SDK: metrics as instruments, refusals and waits on callers' spans.
 * Call it after the SDK was registered (docs/guide/opentelemetry.md); without one nothing is attached. A node that
 * closes ends it. Throws OPENTELEMETRY_TOO_OLD, and OPTIONS_INVALID unless createNode made the node.
 */
export function attachOpenTelemetry(node: QuotaNode): Attached {
  return attachTo({ node: partsOf(node) });
}
