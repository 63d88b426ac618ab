import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { HeldUnits } from '../../../node/admission/budget/held-units.js';
import type { NotReady, Reservation } from '../../../node/api/decision.js';

/** Hits of a bucket, held until the work is done. */
export interface HeldHits {
  commit(hits: number): void;
  cancel(): void;
}

/** Counts in hits what a rate, or a budget, holds. */
export function heldHits(held: Reservation | HeldUnits): HeldHits {
  if (held instanceof HeldUnits) return held;
  return { commit: (hits) => held.commit({ messages: hits }), cancel: () => held.cancel() };
}

/** Makes the error for a node that cannot decide. */
export function notReadyError(node: string, { because }: Pick<NotReady, 'because'>): QuotameshError {
  return new QuotameshError('NOT_READY', { node, reason: because });
}
