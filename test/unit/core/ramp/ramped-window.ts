import type { RampSettings } from '../../../../src/core/base/settings.js';
import { RAMP_STEPS, slopeOf, usedPercent } from '../../../../src/core/target/ramp/ramp.js';

export interface VectorMode {
  readonly name: string;
  readonly thresholdPercent?: number;
  readonly coolDownSec?: number;
  readonly rampDownPercent?: number;
}

export interface VectorParams {
  readonly max: number;
  readonly min: number;
  readonly rampSec: number;
  readonly pods?: number;
}

/** The names of numaflow-ramp.json as our settings have them. */
export function rampSettings(mode: VectorMode, { min, max, rampSec }: VectorParams): RampSettings {
  const name = MODE_NAMES[mode.name];
  if (name === undefined) throw new Error(`unknown mode "${mode.name}"`);
  return {
    mode: name,
    fromPerSecond: min,
    toPerSecond: max,
    overMs: rampSec * 1000,
    thresholdRatio: (mode.thresholdPercent ?? 50) / 100,
    coolDownMs: (mode.coolDownSec ?? 5) * 1000,
    pausePenaltyRatio: (mode.rampDownPercent ?? 50) / 100,
    timeToLiveMs: 180_000,
  };
}

const MODE_NAMES: Readonly<Record<string, RampSettings['mode']>> = {
  relaxed: 'relaxed',
  scheduled: 'scheduled',
  onlyIfUsed: 'only-if-used',
  goBackN: 'go-back-n',
};

/**
 * The token arithmetic around a ramp as the vectors' header states it, a model of the other system: whole tokens per
 * second, in equal parts. What is judged with it are the production modes (test/vectors/README.md).
 * A pod hands back at most what it was granted in the same second.
 */
export class RampedWindow {
  readonly #settings: RampSettings;
  readonly #top: number;
  readonly #slope: number;
  ceiling: number;
  tokens: number;
  #epoch: number;
  #held = 0;

  constructor(settings: RampSettings, createdAtEpoch = 0, resumedCeiling = 0) {
    this.#settings = settings;
    this.#top = settings.toPerSecond as number;
    this.#slope = slopeOf(settings, this.#top);
    // As shipped: whole, and within the ramp.
    this.ceiling = Math.min(this.#top, Math.max(settings.fromPerSecond, Math.trunc(resumedCeiling)));
    this.tokens = Math.trunc(this.ceiling);
    this.#epoch = createdAtEpoch;
  }

  /** Tokens per pod. */
  ask(ask: 'all' | number, pods: number, epoch: number): number {
    this.begin(epoch);
    const part = Math.floor(this.tokens / pods);
    const grant = ask === 'all' ? part : Math.min(part, ask);
    this.tokens -= grant * pods;
    this.#held += grant;
    return grant;
  }

  deposit(amount: number, pods: number, epoch: number): void {
    if (epoch !== this.#epoch) return;
    const counted = Math.min(amount, this.#held);
    this.#held -= counted;
    this.tokens += counted * pods;
  }

  begin(epoch: number): void {
    if (epoch <= this.#epoch) return;
    const { ceiling } = this;
    const used = usedPercent(this.tokens, ceiling, this.#slope);
    const elapsedSeconds = epoch - this.#epoch;
    const step = { ceiling, top: this.#top, slope: this.#slope, elapsedSeconds, usedPercent: used };
    this.ceiling = RAMP_STEPS[this.#settings.mode](step, this.#settings);
    this.tokens = Math.trunc(this.ceiling);
    this.#epoch = epoch;
    this.#held = 0;
  }
}
