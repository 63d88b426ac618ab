import { decay } from '../base/decay.js';
import type { BackendHealth } from '../base/protocol/record.js';

/**
 * A level that follows what is told of it (exponential; FoundationDB's ratekeeper reads queues through a smoother of
 * 1 s):
 *
 *     level ← told + (level − told) · e^(−Δ/τ)
 *
 * Worked, τ = 1 s: 600 was known, 1 s later 1,000 is told → 852.8, another second later 1,000 → 945.9; after 10 s
 * without a word what is told holds as it is.
 *
 * A spring is steep: with 800 and 200 one per cent of the level is four of the ratio, so where a single piece of work
 * moves a queue by some per cents the target swings with every one of them. The node that measures smooths, as with
 * costs: the record has the level that counts, so a newcomer computes what the others do. A ratio that was told is
 * deliberate, and is taken as it is; so are a first level, and a level that comes with another target or spring.
 *
 * @param elapsedMs since the word before; not above 0 where a clock stood still or went back
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
