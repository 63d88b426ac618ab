/**
 * What one window does to consumers, in words; null where there are more. A broker answers a fetch with no more than the
 * quota allows in all windows but one, and waits for no more: with one window that is nothing. So a fetch gets the one
 * batch that a broker gives in any case, and is answered at once where there is none.
 */
export function troubleOfConsumers(windows: number): string | null {
  if (windows !== 1) return null;
  return 'a consumer with a quota gets one record batch per fetch, and asks without a pause while there is nothing to read';
}

/**
 * How unevenly a client gets its rate that wants more than that, in words; null where it gets it smoothly. Kafka holds
 * the mean of its windows: after a burst there is silence until the mean is down. Measured with five clients of 100 kB/s
 * that want 0.5 to 10 times as much, for 20 s each.
 */
export function roughnessOf(windows: number, windowSeconds: number): string | null {
  if (windows === 1) return null;
  const span = `${windows} × ${windowSeconds} s`;
  if (windows < 4)
    return `means over ${span}: rates of busy clients vary by up to 0.9 of themselves from second to second`;
  const silence = Math.max(1, (windows - 1) * windowSeconds);
  return (
    `means over ${span}: who wants 2 to 10 times its quota gets bursts and up to ${silence} s of silence ` +
    '(coefficient of variation per second 1.1 to 2.6, and 0.04 with quota.window.num=1)'
  );
}
