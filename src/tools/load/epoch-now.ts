/** Epoch milliseconds from the monotonic clock, as the nodes' decision logs have them. */
export function epochNow(): number {
  return performance.timeOrigin + performance.now();
}
