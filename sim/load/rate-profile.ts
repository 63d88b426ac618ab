/** Rate over time: `rate[k]` pieces/s from `atMs[k]` on, 0 before; a ramp has steps of 100 ms. */
export interface RateProfile {
  readonly atMs: readonly number[];
  readonly rate: readonly number[];
}

/** Clips a profile to two times. */
export function clipped({ atMs, rate }: RateProfile, fromMs: number, untilMs: number): RateProfile {
  const inside = atMs.map((at, index) => [at, rate[index]] as const).filter(([at]) => at < untilMs);
  const before = inside.filter(([at]) => at <= fromMs).at(-1);
  const kept = inside.filter(([at]) => at > fromMs);
  const steps = [...(before === undefined ? [] : [[fromMs, before[1]] as const]), ...kept, [untilMs, 0] as const];
  return { atMs: steps.map(([at]) => at), rate: steps.map(([, value]) => value) };
}

/** Extends time 0 back by so long. */
export function heldBefore({ atMs, rate }: RateProfile, ms: number): RateProfile {
  return { atMs: atMs.map((at) => (at === 0 ? -ms : at)), rate };
}

export function scaledFrom(profile: RateProfile, fromMs: number, factor: number): RateProfile {
  const current = rateAt(profile, fromMs);
  const steps = profile.atMs.map((at, index) => {
    const value = profile.rate[index];
    return [at, at >= fromMs ? value * factor : value] as const;
  });
  if (!profile.atMs.includes(fromMs)) steps.push([fromMs, current * factor]);
  steps.sort(([one], [other]) => one - other);
  return { atMs: steps.map(([at]) => at), rate: steps.map(([, value]) => value) };
}

export function rateAt({ atMs, rate }: RateProfile, nowMs: number): number {
  let current = 0;
  for (let at = 0; at < atMs.length && atMs[at] <= nowMs; at++) current = rate[at];
  return current;
}

/** Reads a profile forwards. */
export class ProfileCursor {
  readonly #profile: RateProfile;
  #at = -1;

  constructor(profile: RateProfile) {
    this.#profile = profile;
  }

  /** Returns the rate at a time, never before the last call's. */
  rateAt(nowMs: number): number {
    const { atMs, rate } = this.#profile;
    while (this.#at + 1 < atMs.length && atMs[this.#at + 1] <= nowMs) this.#at++;
    return this.#at === -1 ? 0 : rate[this.#at];
  }

  /** Time of the next change; Infinity = never. */
  get nextChangeMs(): number {
    return this.#profile.atMs[this.#at + 1] ?? Infinity;
  }
}
