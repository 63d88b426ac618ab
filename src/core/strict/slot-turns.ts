import type { StrictFold } from './strict-fold.js';

/** Milliseconds of silence after which a life's want counts for nothing; holders of keyed lanes write less often. */
const HEARD_MS = 1000;
const KEYED_HEARD_MS = 2500;

/**
 * Bounds the slots that a life holds while others wait: its part by max-min of what all want, and what nobody lacks.
 * Who has more leaves as many as others lack, or as are above a lowered limit, when its requests end.
 *
 * *Worked:* 10 slots; a holds all and wants 30, b wants 8, c wants 2. Parts are 4, 4 and 2: b and c lack 6, so a keeps
 * 4. If b wanted 3, it would keep 5. Once nobody lacks any, each holds what is free.
 */
export function slotsMost(fold: StrictFold, key: string, needed: number): number {
  const { holders, quota, heldTokens, nowMs } = fold;
  const heardMs = quota.keyed ? KEYED_HEARD_MS : HEARD_MS;
  const isHeard = (readMs: number) => nowMs - readMs <= heardMs;
  const others = [...holders].flatMap(([other, { hold, want, readMs }]) => {
    return other === key ? [] : [{ hold, want: isHeard(readMs) ? want : hold }];
  });
  const level = levelOf([needed, ...others.map(({ want }) => want)], quota.depth);
  const lack = others.reduce((sum, { hold, want }) => sum + Math.max(0, Math.min(want, level) - hold), 0);
  const left = quota.depth - heldTokens - lack;
  const held = holders.get(key)?.hold ?? 0;
  return Math.max(Math.min(needed, level), held + left);
}

/** Finds the greatest whole level with Σ min(want, level) ≤ slots; the least is that of equal parts. */
function levelOf(wants: readonly number[], slots: number): number {
  const sorted = [...wants].sort((left, right) => left - right);
  let left = slots;
  for (const [at, want] of sorted.entries()) {
    const level = Math.floor(left / (sorted.length - at));
    if (want > level) return level;
    left -= want;
  }
  return slots;
}
