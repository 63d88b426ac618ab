/** Milliseconds of the windows that are compared with the longest, longest first. */
const WINDOWS_MS = [4000, 1000, 250, 60] as const;
const SAMPLE_MS = 20;
/** Standard deviations from which a shorter window is believed. */
const SURE = 3;

/**
 * Estimates what is wanted, tokens per second: over 4 s, or over a shorter window that differs by more than chance.
 *
 * *Worked:* 100/s for 4 s, then 40 in 60 ms: 6 were expected, so 667/s.
 */
export class StrictDemand {
  #asked = 0;
  readonly #samples: (readonly [atMs: number, asked: number])[] = [];

  add(tokens: number): void {
    this.#asked += tokens;
  }

  perSecond(nowMs: number): number {
    const samples = this.#samples;
    const last = samples[samples.length - 1];
    if (last === undefined || nowMs - last[0] >= SAMPLE_MS) samples.push([nowMs, this.#asked]);
    while (samples.length > 2 && samples[1][0] <= nowMs - WINDOWS_MS[0]) samples.shift();
    let perMs = 0;
    for (const [at, windowMs] of WINDOWS_MS.entries()) {
      const [tokens, forMs] = this.#since(nowMs - windowMs, nowMs);
      const expected = perMs * forMs;
      const isSure = Math.abs(tokens - expected) > SURE * Math.sqrt(Math.max(1, expected));
      if (forMs > 0 && (at === 0 || isSure)) perMs = tokens / forMs;
    }
    return 1000 * perMs;
  }

  #since(fromMs: number, nowMs: number): readonly [tokens: number, forMs: number] {
    const samples = this.#samples;
    let at = samples.length - 1;
    while (at > 0 && samples[at][0] > fromMs) at--;
    return [this.#asked - samples[at][1], nowMs - samples[at][0]];
  }
}
