/** Returns epoch milliseconds of the monotonic clock, as in decision logs. */
export function epochNow(): number {
  return performance.timeOrigin + performance.now();
}
