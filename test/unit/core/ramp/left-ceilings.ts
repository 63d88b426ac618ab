import type { RampSettings } from '../../../../src/core/base/settings.js';
import { RampBook } from '../../../../src/core/target/ramp/ramp-book.js';
import { wideId } from '../../../wide-ids.js';

/** All but how long a ceiling lives, which a vector says. */
const RAMP: Omit<RampSettings, 'timeToLiveMs'> = {
  mode: 'relaxed',
  fromPerSecond: 1,
  toPerSecond: null,
  overMs: 1000,
  thresholdRatio: 0.5,
  coolDownMs: 5000,
  pausePenaltyRatio: 0.5,
};

/**
 * The ceilings that pods have left behind, by name, as the production book of ramps remembers them: each pod is a lane,
 * and time of the log goes on as the vector says. How long a ceiling lives is the book's rule.
 */
export class LeftCeilings {
  readonly #book = new RampBook(1000, () => undefined);
  readonly #lanes = new Map<string, number>();
  readonly #ramp: RampSettings;
  #sequence = 0;

  constructor(ttlSec: number) {
    this.#ramp = { ...RAMP, timeToLiveMs: ttlSec * 1000 };
  }

  /** 0 = nothing is known of it any more. */
  of(name: string, nowSec: number): number {
    this.#advanceTo(nowSec);
    return this.#book.get(this.#laneOf(name), this.#ramp)?.ceiling ?? 0;
  }

  leave(name: string, ceiling: number, nowSec: number): void {
    this.#advanceTo(nowSec);
    const author = { nodeKey: 1, incarnation: 1, sequence: ++this.#sequence };
    const place = { readUntilMs: 0, readUntilOffset: this.#book.readUntil.readUntilOffset };
    const settings = { groupId: wideId(1), direction: 0, timeToLiveMs: this.#ramp.timeToLiveMs };
    this.#book.apply(this.#laneOf(name), { kind: 'group-state', author, ceiling, lateMs: 0, ...place, ...settings });
  }

  #advanceTo(nowSec: number): void {
    const ms = nowSec * 1000;
    this.#book.advanceTo({ ms, spanMs: ms, wholeMs: ms, appendMs: ms }, this.#sequence + 1);
  }

  #laneOf(name: string): number {
    const known = this.#lanes.get(name);
    if (known !== undefined) return known;
    this.#lanes.set(name, this.#lanes.size);
    return this.#lanes.size - 1;
  }
}
