import type { BackendHealth } from '../base/protocol/record.js';

/** Ratio of a backend that is not near saturation. */
export const HEALTHY = Infinity;

/**
 * Computes the part of its present work that a backend can bear:
 *
 *     z = min(2, (level − target + spring) / spring)        ratio = 1/z where z > 0, else none
 *
 * *Worked:* target 800 MB and spring 200 MB: 600 MB none · 650 MB 4 · 800 MB 1 · 900 MB 0.667 · 1000 MB and above 0.5.
 * The large ratios just above target − spring are harmless: the target never exceeds the desired rate.
 * *Why:* docs/background/foundationdb-tag-throttling.md, limiting rate; formula of 7.3 and later.
 */
export function throttlingRatio(health: BackendHealth): number {
  if (health.kind === 'ratio') return health.ratio;
  const pressure = Math.min(2, (health.level - health.target + health.spring) / health.spring);
  return pressure > 0 ? 1 / pressure : HEALTHY;
}

/**
 * Tests if the figures are possible; a ratio lies in 0 … 2. A broken sensor reports others, which may throttle nothing.
 */
export function isSaneHealth(health: BackendHealth): boolean {
  if (health.kind === 'ratio') return Number.isFinite(health.ratio) && health.ratio >= 0 && health.ratio <= 2;
  const { level, target, spring } = health;
  return [level, target, spring].every(Number.isFinite) && level >= 0 && target > 0 && spring > 0;
}
