import { isMapping, type Mapping } from '../../base/input/mapping.js';
import type { ConfigPath, Findings } from '../setting/findings.js';
import { SHORT_UNIT, type TimeUnit } from '../setting/quantity.js';
import { RATE_NAMES, type RateName, rateKey } from '../setting/written-rate.js';

/**
 * Puts the unit of time in a rate's key behind the amount. Nothing else knows of it.
 *
 * *Worked:* `messagesPerMinute: 600` is read as `messagesPerSecond: 600/min`. Beside the same rate in another unit it
 * stays as it is, and is no known key.
 *
 * @param path where `written` stands; mistakes are told at the key that was written
 */
export function withUnitsBehindAmounts<Written>(written: Written, findings?: Findings, path: ConfigPath = []): Written {
  if (!isMapping(written) || path.length > DEPTH_MAX) return written;
  const entries = Object.entries(written).map(([key, value]): [string, unknown] => {
    const rate = rateIn(written, key, value);
    if (rate === null) return [key, withUnitsBehindAmounts(value, findings, [...path, key])];
    findings?.setWritten([...path, rate.key], findings.asWritten([...path, key]));
    return [rate.key, rate.value];
  });
  const isSame = entries.every(([key, value]) => Object.hasOwn(written, key) && written[key] === value);
  return (isSame ? written : Object.fromEntries(entries)) as Written;
}

function rateIn(written: Mapping, key: string, value: unknown): { key: string; value: unknown } | null {
  const [, name, unit] = UNIT_IN_KEY.exec(key) ?? [];
  if (name === undefined || unit === undefined) return null;
  if (Object.keys(written).filter((other) => other.replace(UNIT_OF_ANY, '') === name).length > 1) return null;
  const perSecond = rateKey(name as RateName);
  if (value === null) return { key: perSecond, value };
  const isAmount = typeof value === 'number' || (typeof value === 'string' && !value.includes('/'));
  return isAmount ? { key: perSecond, value: `${value}/${SHORT_UNIT[unit.toLowerCase() as TimeUnit]}` } : null;
}

export const UNIT_IN_KEY = new RegExp(`^(${RATE_NAMES.join('|')})Per(Minute|Hour|Day)$`);
/** Mappings below which rates stand: keys, a pattern, overrides, a key, shadow, quota, publish. More costs stack. */
const DEPTH_MAX = 7;
const UNIT_OF_ANY = /Per(Second|Minute|Hour|Day)$/;
