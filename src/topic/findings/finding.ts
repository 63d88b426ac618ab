import { QuotameshError } from '../../base/errors/quotamesh-error.js';
import type { Finding } from '../../config/setting/topic-kind.js';
import { withDeadline } from '../remote/deadline.js';

export function good(about: string, says: string): Finding {
  return { about, state: 'good', says, code: null, remedy: null };
}

export function skipped(about: string, says: string): Finding {
  return { about, state: 'skipped', says, code: null, remedy: null };
}

export function noted(about: string, what: string | QuotameshError): Finding {
  if (typeof what === 'string') return { about, state: 'noted', says: what, code: null, remedy: null };
  return { ...wrong(about, what), state: 'noted' };
}

export function wrong(about: string, error: unknown): Finding {
  const known = error instanceof QuotameshError ? error : new QuotameshError('UNEXPECTED', { reason: String(error) });
  return { about, state: 'wrong', says: known.message, code: known.code, remedy: known.remedy };
}

/** Bounds a look in time; errors are findings. */
export async function looked(
  about: string,
  timeoutMs: number,
  look: () => Promise<Finding | readonly Finding[]>,
): Promise<readonly Finding[]> {
  try {
    const late = () => new QuotameshError('CHECK_TIMED_OUT', { about, timeoutMs });
    const found = await withDeadline(look(), timeoutMs, late);
    return Array.isArray(found) ? found : [found as Finding];
  } catch (error) {
    return [wrong(about, error)];
  }
}
