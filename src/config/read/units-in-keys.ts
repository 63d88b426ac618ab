import { isMapping, type Mapping } from '../../input/mapping.js';
import type { ConfigPath, Findings } from '../setting/findings.js';
import { SHORT_UNIT, type TimeUnit } from '../setting/time-unit.js';

/**
 * Reads rates whose key names the unit of time as rates with the unit behind the amount; nothing else knows of it.
 *
 * *Worked:* `messagesPerMinute: 600` is read as `messagesPerSecond: 600/min`. Beside the same rate in another unit it
 * stays as it is, and is no known key.
 *
 * @param path where `written` stands; mistakes are told at the key that was written
 */
export function withUnitsBehindAmounts<Written>(written: Written, findings?: Findings, path: ConfigPath = []): Written {
  if (!isMapping(written)) return written;
  let changed: Record<string, unknown> | null = null;
  for (const [key, value] of Object.entries(written)) {
    const rate = rateIn(written, key, value);
    const into = rate === null ? key : rate.key;
    const read = rate === null ? withUnitsBehindAmounts(value, findings, [...path, key]) : rate.value;
    if (changed === null && (into !== key || read !== value)) changed = upTo(written, key);
    if (changed !== null) changed[into] = read;
    if (rate !== null) findings?.setWritten([...path, into], findings.asWritten([...path, key]));
  }
  return (changed ?? written) as Written;
}

function rateIn(written: Mapping, key: string, value: unknown): { key: string; value: unknown } | null {
  const [, name, unit] = UNIT_IN_KEY.exec(key) ?? [];
  if (name === undefined || unit === undefined) return null;
  if (Object.keys(written).filter((other) => other.replace(UNIT_OF_ANY, '') === name).length > 1) return null;
  const perSecond = `${name}PerSecond`;
  if (value === null) return { key: perSecond, value };
  const isAmount = typeof value === 'number' || (typeof value === 'string' && !value.includes('/'));
  return isAmount ? { key: perSecond, value: `${value}/${SHORT_UNIT[unit.toLowerCase() as TimeUnit]}` } : null;
}

/** Copies what stands before a key, which is replaced in its place. */
function upTo(written: Mapping, key: string): Record<string, unknown> {
  const keys = Object.keys(written);
  return Object.fromEntries(keys.slice(0, keys.indexOf(key)).map((before) => [before, written[before]]));
}

export const UNIT_IN_KEY = /^(messages|bytes|cost|reservedCost)Per(Minute|Hour|Day)$/;
const UNIT_OF_ANY = /Per(Second|Minute|Hour|Day)$/;
