import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import type { Decision, Granted, RequestAmounts, WaitForOptions, WaitOptions, Where } from '../../api/decision.js';
import { rejectUnlessOptions } from '../request/request-checks.js';
import { scopeText } from '../request/scope-resolver.js';
import { WAIT_MS_MAX } from './wait-lines.js';

/** Gate that waits. */
interface Acquiring {
  acquire(where: Where, amounts: RequestAmounts, options: WaitOptions): Promise<Decision>;
}

/** Resolves at this work's turn; throws all that is no grant, so that nobody goes on unaware. */
export async function waitFor(
  gate: Acquiring,
  nodeId: string,
  where: Where,
  options: WaitForOptions = {},
): Promise<Granted> {
  rejectUnlessOptions(options);
  const { messages = 1, bytes = 0, waitMs = WAIT_MS_MAX, ...others } = options;
  const decision = await gate.acquire(where, { ...options, messages, bytes }, { ...others, waitMs });
  if (decision.granted) return decision;
  const { retryAfterMs } = decision;
  if (decision.reason === 'not-ready') {
    throw new QuotameshError('NOT_READY', { node: nodeId, reason: decision.because, retryAfterMs });
  }
  const group = typeof where === 'string' ? where : scopeText(where);
  throw new QuotameshError('WAIT_OVER', { group, waitMs, retryAfterMs });
}
