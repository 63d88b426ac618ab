import { decay } from '../base/decay.js';
import type { BackendHealth } from '../base/protocol/record.js';

/**
 * Smooths a backend's level exponentially (FoundationDB's ratekeeper: 1 s):
 *
 *     level ← told + (level − told) · e^(−Δ/τ)
 *
 * *Worked:* τ = 1 s: from 600, 1,000 told 1 s later → 852.8, and again 1 s later → 945.9; after 10 s of silence 1,000.
 *
 * *Why:* a spring is steep. With target 800 and spring 200, 1 % of the level is 4 % of the ratio, so single pieces of
 * work would swing the target. The node that measures smooths, as with costs: the record has the level that counts, so
 * a newcomer computes the same. A ratio is taken unchanged, as are a first level and one with another target or spring.
 *
 * @param elapsedMs since the last report; 0 or less where a clock stood still or went back
 */
export function followedHealth(
  before: BackendHealth,
  told: BackendHealth,
  elapsedMs: number,
  smoothingMs: number,
): BackendHealth {
  if (smoothingMs === 0 || told.kind !== 'level' || before.kind !== 'level') return told;
  if (before.target !== told.target || before.spring !== told.spring) return told;
  const level = told.level + (before.level - told.level) * decay(Math.max(0, elapsedMs) / smoothingMs);
  return { ...told, level };
}
