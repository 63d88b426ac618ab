import type { Stretch } from './acts.js';

export interface Arrival {
  readonly atMs: number;
  readonly node: number;
}

/** Draws an act's requests in time order, by a Poisson process per node. */
export function arrivalsOf(stretches: readonly Stretch[], random: () => number): readonly Arrival[] {
  const arrivals: Arrival[] = [];
  let beganMs = 0;
  for (const { forMs, perSecond, atOnce } of stretches) {
    for (let request = 0; request < (atOnce?.requests ?? 0); request++) {
      arrivals.push({ atMs: beganMs, node: atOnce?.node ?? 0 });
    }
    for (const [node, rate] of perSecond.entries()) {
      if (rate === 0) continue;
      const gapMs = () => (-Math.log(1 - random()) * 1000) / rate;
      for (let atMs = gapMs(); atMs < forMs; atMs += gapMs()) arrivals.push({ atMs: beganMs + atMs, node });
    }
    beganMs += forMs;
  }
  return arrivals.sort((one, other) => one.atMs - other.atMs);
}
