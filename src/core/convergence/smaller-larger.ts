/** Returns the smaller of two finite numbers without a branch. Where chance decides, a branch takes twice the time. */
export function smaller(one: number, other: number): number {
  const first = Number(one < other);
  return first * one + (1 - first) * other;
}

/** Returns the larger of two finite numbers without a branch. */
export function larger(one: number, other: number): number {
  const first = Number(one > other);
  return first * one + (1 - first) * other;
}
