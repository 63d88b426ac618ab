import type { BackendRecord } from '../base/protocol/record.js';
import type { LimitingSettings } from '../base/settings.js';
import { followedHealth } from '../target/followed-health.js';
import { HEALTHY, throttlingRatio } from '../target/throttling-ratio.js';

export type BackendWord = Pick<BackendRecord, 'backend' | 'zone' | 'health'>;

/** A change of the ratio by less than this part of it waits. */
const CHANGE_RATIO = 0.02;
/** A health that does not change is written again this many times while it is valid. */
const REPEATS = 3;

interface Told {
  /** The newest health that was told; its level is smoothed over those told before. */
  word: BackendWord;
  toldMs: number;
  /** True while the newest health has not been written yet. */
  isPending: boolean;
  sent: BackendWord | null;
  sentMs: number;
}

/**
 * Decides when this node writes the health of a backend: at once when its ratio or zone changes, otherwise three times
 * while its last record is valid. It never writes twice within `gapMs`; then the newest health waits. A poller may ask
 * ten times a second; the topic sees one small record per backend and change.
 */
export class BackendSender {
  readonly #validMs: number;
  readonly #smoothingMs: number;
  readonly #gapMs: number;
  readonly #told = new Map<string, Told>();

  constructor({ healthValidMs, levelSmoothingMs }: LimitingSettings, gapMs: number) {
    this.#validMs = healthValidMs;
    this.#smoothingMs = levelSmoothingMs;
    this.#gapMs = gapMs;
  }

  tell(word: BackendWord, nowMs: number): void {
    const known = this.#told.get(word.backend);
    if (known === undefined) {
      const sentMs = -Infinity;
      this.#told.set(word.backend, { word, toldMs: nowMs, isPending: true, sent: null, sentMs });
      return;
    }
    const health = followedHealth(known.word.health, word.health, nowMs - known.toldMs, this.#smoothingMs);
    known.word = { ...word, health };
    known.toldMs = nowMs;
    known.isPending = true;
  }

  /** Called when another log begins: healths that are still valid are written again. */
  sayAgain(nowMs: number): void {
    for (const told of this.#told.values()) {
      if (nowMs - told.toldMs > this.#validMs) continue;
      told.isPending = true;
      told.sent = null;
      told.sentMs = -Infinity;
    }
  }

  /** Calls `write` for every health that is due. */
  sendDue(nowMs: number, write: (word: BackendWord) => void): void {
    for (const [backend, told] of this.#told) {
      const silentMs = nowMs - told.sentMs;
      if (!told.isPending) {
        if (silentMs > this.#validMs) this.#told.delete(backend);
      } else if (silentMs >= (isNews(told) ? this.#gapMs : this.#validMs / REPEATS)) {
        told.isPending = false;
        told.sent = told.word;
        told.sentMs = nowMs;
        write(told.word);
      }
    }
  }
}

function isNews({ word, sent }: Told): boolean {
  if (sent === null || word.zone !== sent.zone) return true;
  const before = throttlingRatio(sent.health);
  const now = throttlingRatio(word.health);
  if (before === HEALTHY || now === HEALTHY) return before !== now;
  return Math.abs(now - before) > CHANGE_RATIO * Math.max(before, now);
}
