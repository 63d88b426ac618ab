import { QuotameshError } from '../../../base/errors/quotamesh-error.js';
import { type Mistake, mistakesText } from '../../../config/setting/config-error.js';

/** Makes the error of a definition's mistakes: their common code, or GROUP_INVALID. */
export function invalidGroup(name: string, mistakes: readonly Mistake[]): QuotameshError {
  const details = mistakesText(mistakes);
  const group = name.slice(0, 200);
  const [code, ...others] = new Set(mistakes.map(codeOf));
  if (code === undefined || code === 'GROUP_INVALID' || others.length > 0) {
    return new QuotameshError('GROUP_INVALID', { group, count: mistakes.length, details });
  }
  return new QuotameshError(code, { group, details });
}

function codeOf({ path, cause }: Mistake) {
  const isQuota = /\.quota\.\w+\.\w+$/.test(path);
  if (cause === 'key-unknown') return 'GROUP_KEY_UNKNOWN';
  if (cause === 'reserved-above-quota') return 'RESERVED_ABOVE_QUOTA';
  if (cause === 'choice-unknown' && path.endsWith('.strategy')) return 'STRATEGY_UNKNOWN';
  if (cause === 'below-range' && isQuota) return 'QUOTA_NEGATIVE';
  if (cause === 'nearly-nothing' && isQuota) return 'QUOTA_TOO_SMALL';
  if (cause === 'above-range' && isQuota) return 'QUOTA_TOO_LARGE';
  return 'GROUP_INVALID';
}
