/**
 * Describes what a single window does to consumers; null with more windows. A broker answers a fetch within the quota
 * of all windows but one: with one that is nothing, so each fetch gets the one batch given in any case, unthrottled.
 */
export function troubleOfConsumers(windows: number): string | null {
  if (windows !== 1) return null;
  return 'quota.window.num=1: a consumer with a quota gets one record batch per fetch, and asks without a pause while there is nothing to read';
}

/**
 * Describes how unevenly a throttled client gets its rate; null = smoothly. Kafka holds the mean of its windows: after
 * a burst there is silence until the mean is down.
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
